package fault

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// usual returns parameters with the usual size and length.
func usual(p Swarm) Swarm {
	p.Nodes, p.Duration, p.Timing, p.Roughness = 5, 20*time.Second, timed.LAN(), 1
	return p
}

func TestWithoutLeavesClassesOut(t *testing.T) {
	for seed := uint64(1); seed <= 50; seed++ {
		for _, f := range usual(Swarm{Without: []Class{ClassCrash, ClassCrashAll, ClassRival}}).Draw(seed).Faults {
			require.NotContains(t, []Kind{Crash, Reboot, CrashAll, Rival}, f.Kind)
		}
	}
	every := make([]Class, 0, Classes)
	for c := range classEnd {
		if c.Random() {
			every = append(every, c)
		}
	}
	for _, f := range usual(Swarm{Without: every}).Draw(1).Faults {
		require.Equal(t, Heal, f.Kind)
	}
}

func TestBadTailsAndTemperaturesAreNamed(t *testing.T) {
	for want, f := range map[string]Fault{
		"index": {Kind: Tail, Rate: 0.95},
		"For":   {Kind: Temperature, Node: 1},
	} {
		require.ErrorContains(t, f.Validate(1), want)
	}
	for field, change := range map[string]func(*Server){
		"MinDelay":  func(s *Server) { s.MinDelay = s.Delay + 1 },
		"Tail":      func(s *Server) { s.Tail = -1 },
		"Index":     func(s *Server) { s.Index = 1 },
		"Asymmetry": func(s *Server) { s.Asymmetry = 2 },
		"Loss":      func(s *Server) { s.Loss = math.NaN() },
		"Burst":     func(s *Server) { s.Burst = -1 },
	} {
		s := Server{Nodes: timed.SetOf(1), Every: time.Second, Delay: time.Millisecond, Error: 50 * time.Microsecond}
		change(&s)
		require.ErrorContains(t, s.validate(1), field)
	}
}

// Random worlds have all of it.
func TestSeasonsAreDrawn(t *testing.T) {
	var warm, tails, servers int
	for seed := range uint64(100) {
		s := usual(Swarm{Servers: &Servers{}}).Draw(seed)
		for i := range s.Faults {
			switch s.Faults[i].Kind {
			case Temperature:
				warm++
			case Tail:
				tails++
			}
		}
		for i := range s.Servers.List {
			if s.Servers.List[i].Tail > 0 {
				servers++
			}
		}
	}
	require.Greater(t, warm, 20)
	require.Greater(t, tails, 10)
	require.Greater(t, servers, 50)
}

// The schedules of a seed are the same, and valid.
func TestSchedulesAreValid(t *testing.T) {
	for seed := range uint64(200) {
		p := usual(Swarm{Broadcast: true, BrokenClocks: seed%2 == 0, Servers: &Servers{}})
		s := p.Draw(seed)
		require.NoError(t, s.Validate(p.Nodes, p.Timing))
		require.Equal(t, s, p.Draw(seed))
		for id := timed.NodeID(p.Nodes); id > 1; id-- {
			s = s.Without(id)
			require.NoError(t, s.Validate(int(id)-1, p.Timing), "without node %d", id)
		}
	}
}

// Rest makes stable periods longer, within the run, and nothing else of a schedule shorter.
func TestStablePeriodsRest(t *testing.T) {
	periods := func(p Swarm) (all []time.Duration) {
		s := p.Draw(7)
		require.NoError(t, s.Validate(p.Nodes, p.Timing))
		for i := range s.Faults {
			if f := &s.Faults[i]; f.Kind == Heal {
				require.LessOrEqual(t, f.At+f.For, p.Duration)
				all = append(all, f.For)
			}
		}
		return all
	}
	p := usual(Swarm{})
	p.Duration = time.Hour
	short := periods(p)
	p.Rest = 10 * time.Minute
	long := periods(p)
	require.Equal(t, short[0], slices.Max(short), "without Rest all have one length")
	require.GreaterOrEqual(t, slices.Min(long), short[0])
	require.Greater(t, slices.Max(long), 5*time.Minute)
	require.LessOrEqual(t, slices.Max(long), short[0]+p.Rest)
	require.Greater(t, len(short), 20*len(long))
}

func TestFaultsSayWhatTheyAre(t *testing.T) {
	for text, f := range map[string]Fault{
		"1.25s cut 1→3 for 40ms":       {At: 1250 * time.Millisecond, For: 40 * time.Millisecond, Kind: Cut, Node: 1, Peer: 3},
		"0s split {1 2} {3}":           {Kind: Split, Blocks: []timed.Set{timed.SetOf(1, 2), timed.SetOf(3)}},
		"0s heal, down {2} 5ms for 1s": {Kind: Heal, Down: timed.SetOf(2), Extra: 5 * time.Millisecond, For: time.Second},
		"0s loss 12.5% size 3":         {Kind: Loss, Rate: 0.125, Size: 3},
		"0s wander 2 -300 ppb":         {Kind: Wander, Node: 2, Rate: -300},
		"0s clock jump 1 -1s":          {Kind: ClockJump, Node: 1, Extra: -time.Second},
		"0s slow consumer 4 for 1s":    {Kind: SlowConsumer, Node: 4, For: time.Second},
		"0s black hole 1→2 size 300":   {Kind: BlackHole, Node: 1, Peer: 2, Size: 300},
	} {
		require.Equal(t, text, f.String())
		require.NoError(t, f.Validate(4))
	}
}

// Every simplification yields a fault that is still valid.
func TestSimplerFaultsAreValid(t *testing.T) {
	for _, f := range usual(Swarm{}).Draw(3).Faults {
		for _, change := range Simplifications {
			if g, changed := f.Changed(change); changed && g.Kind != Temperature {
				require.NoError(t, g.Validate(5), "%v", f)
			}
		}
	}
}
