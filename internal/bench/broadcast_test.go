package bench

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// broadcastUndisturbed measures until all cells are whole.
func broadcastUndisturbed(t *testing.T, opt BroadcastOptions, whole func(*BroadcastCell) bool) (r *BroadcastResult) {
	t.Helper()
	patiently(&opt.For, func() bool {
		var err error
		r, err = Broadcast(t.Context(), opt)
		require.NoError(t, err)
		return !slices.ContainsFunc(r.Cells, func(c BroadcastCell) bool { return !whole(&c) })
	})
	return r
}

// measured reports whether a load has messages that arrived.
func measured(l *CastLoad) bool { return l.Messages > 0 && l.Latency.Count > 0 }

func TestBroadcast(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs of several processes")
	}
	if err := new(usage).ofProcess(); err != nil {
		t.Skip(err)
	}
	r := broadcastUndisturbed(t, BroadcastOptions{Members: []int{3}, Sizes: []int{64}, Order: failaware.TotalOrder,
		Atomicities: []failaware.Atomicity{failaware.StrictAtomicity}, All: []bool{false, true},
		Setup: setup(t)},
		func(c *BroadcastCell) bool {
			f := &c.Floors
			return measured(&c.Saturated) && measured(&c.Slow) && measured(&c.Half) && c.Slow.Messages < 2*castSlow &&
				f.Plain.Bytes > 0 && f.Offload.Bytes > 0 && f.Packed.Bytes > 0 && f.Slow.Latency.Count > 0
		})
	require.False(t, r.CutShort)
	require.Len(t, r.Cells, 2)
	for i, c := range r.Cells {
		require.Equal(t, 3, c.Members)
		require.Equal(t, []int{1, 3}[i], c.Senders)
		require.Equal(t, "strict", c.Atomicity)
		for _, l := range []CastLoad{c.Saturated, c.Slow, c.Half} {
			require.Positive(t, l.Messages)
			require.InEpsilon(t, 64*l.Messages, l.Bytes, 1e-9)
			require.Positive(t, l.Latency.Count)
			require.Positive(t, l.Latency.Min, "no message arrives before it is sent")
		}
		require.Less(t, c.Slow.Messages, 2.0*castSlow, "unless a busy machine lets it catch up")
		require.Equal(t, 64, c.Floors.Plain.Packet)
		require.Equal(t, 64, c.Floors.Offload.Packet)
		require.Zero(t, c.Floors.Plain.Together)
		require.Positive(t, c.Floors.Offload.Together)
		require.Greater(t, c.Floors.Packed.Packet, 1000)
		for _, f := range []CastFloor{c.Floors.Plain, c.Floors.Offload, c.Floors.Packed} {
			require.Equal(t, []int{3, c.Senders, 64}, []int{f.Members, f.Senders, f.Size})
			require.InEpsilon(t, c.Saturated.Bytes, f.Share*f.Bytes, 1e-9)
		}
		require.Equal(t, []int{3, c.Senders, 64}, []int{c.Floors.Slow.Members, c.Floors.Slow.Senders, c.Floors.Slow.Size})
		require.Positive(t, c.Floors.Slow.Latency.Count)
	}
	readable(t, r)
}

func TestBroadcastNamesWhatIsWrong(t *testing.T) {
	good := BroadcastOptions{Setup: setup(t), Members: []int{2}, Sizes: []int{64}, For: time.Second}
	require.NoError(t, good.complete())
	require.GreaterOrEqual(t, good.Packet, minCastPacket)
	for text, change := range map[string]func(*BroadcastOptions){
		"processes":    func(o *BroadcastOptions) { o.Launch = nil },
		"--procs 257":  func(o *BroadcastOptions) { o.Procs = MaxProcs + 1 },
		"--packet":     func(o *BroadcastOptions) { o.Packet = 1000 },
		"--seconds 1h": func(o *BroadcastOptions) { o.For = time.Hour },
		"--nodes 1":    func(o *BroadcastOptions) { o.Members = []int{1} },
		"--size 15":    func(o *BroadcastOptions) { o.Sizes = []int{castHead - 1} },
		"--load half":  func(o *BroadcastOptions) { o.Loads = []CastLoadName{LoadHalf} },
	} {
		opt := good
		change(&opt)
		_, err := Broadcast(t.Context(), opt)
		require.ErrorContains(t, err, text)
	}
	good.Limit = time.Nanosecond
	_, err := Broadcast(t.Context(), good)
	require.ErrorIs(t, err, errLimit)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Broadcast(ended, good)
	require.ErrorIs(t, err, context.Canceled)
}

// A message has arrived when the last member has it. A message that a member lacks is
// missing and has no latency.
func TestBroadcastSumsUpAtTheSlowestMember(t *testing.T) {
	l := sumUpCast([]*castCount{
		{Elapsed: time.Second, CPU: 300 * time.Millisecond, Messages: 100, Bytes: 1000, Views: 1,
			Traces: []castTrace{{1, 1, 10, 15}, {2, 1, 20, 26}}},
		{Elapsed: 2 * time.Second, CPU: 200 * time.Millisecond, Messages: 100, Bytes: 1000, Overflow: 3,
			Traces: []castTrace{{1, 1, 10, 19}}},
	})
	require.Equal(t, CastLoad{Messages: 50, Bytes: 500, PerMessage: 8 * time.Millisecond, Cores: 0.4, Latency: Summarize([]time.Duration{9}),
		Missing: 1, Views: 1, Overflow: 3}, l)
}

// The aim is for datagrams that the kernel moves one by one.
func TestBroadcastAims(t *testing.T) {
	floors := CastFloors{Plain: CastFloor{FloorCell{Bytes: 600e6}, 0}, Packed: CastFloor{FloorCell{Bytes: 3000e6}, 0}}
	saturated := CastLoad{Messages: 300e3, Bytes: 300e6}
	r := BroadcastResult{Cells: []BroadcastCell{
		{Members: 3, Senders: 1, Size: 64, Atomicity: "weak", Saturated: CastLoad{Messages: 600e3},
			Slow: CastLoad{Latency: Summarize([]time.Duration{time.Millisecond})}},
		{Members: 3, Senders: 1, Size: 1024, Atomicity: "weak", Saturated: saturated, Floors: floors.against(&saturated)},
	}}
	r.aim()
	var met []bool
	for _, a := range r.Aims {
		met = append(met, a.Met)
	}
	require.Equal(t, []bool{true, false, false, true, true}, met, "%v", r.Aims)
	last := r.Aims[len(r.Aims)-1]
	require.Contains(t, last.Name, "of the plain floor")
	require.InEpsilon(t, 50.0, last.Value, 1e-9)
}

// An unmeasured load has no number.
func TestBroadcastFloorsInTheTable(t *testing.T) {
	saturated := CastLoad{Bytes: 300e6}
	floors := CastFloors{Plain: CastFloor{FloorCell{Bytes: 600e6}, 0}, Packed: CastFloor{FloorCell{Bytes: 3000e6}, 0}}
	floors = floors.against(&saturated)
	require.Len(t, castFloorHead, len(floors.row()))
	require.Equal(t, []string{"600.0", "50", "-", "-", "3000.0", "10"}, floors.row())
	text, err := json.Marshal(floors)
	require.NoError(t, err)
	require.Contains(t, string(text), `"plain":{"members"`)
	require.NotContains(t, string(text), `"offload"`)
}

// Only the loads' own measurements are made.
func TestBroadcastMeasuresTheFloorsOfItsLoads(t *testing.T) {
	if err := new(usage).ofProcess(); err != nil {
		t.Skip(err)
	}
	opt := &BroadcastOptions{Setup: setup(t), Loads: []CastLoadName{LoadSlow}, Packet: minCastPacket, Procs: 3}
	var floors CastFloors
	patiently(&opt.For, func() bool {
		var err error
		floors, err = castFloors(t.Context(), opt, 2, 64, false)
		require.NoError(t, err)
		return floors.Slow.Latency.Count > 0
	})
	require.Positive(t, floors.Slow.Latency.Count)
	floors.Slow = FloorLatency{}
	require.Zero(t, floors)
	opt.Loads = []CastLoadName{LoadSaturated}
	// Two of these are too long for a message of the kernel, so there is no
	// offload.
	floors, err := castFloors(t.Context(), opt, 2, 50_000, false)
	require.NoError(t, err)
	require.Equal(t, []int{3, 3}, []int{floors.Plain.Procs, floors.Packed.Procs}, "as the nodes")
	require.Equal(t, []int{50_000, 0, minCastPacket}, []int{floors.Plain.Packet, floors.Offload.Packet, floors.Packed.Packet})
	require.Zero(t, floors.Slow)
}
