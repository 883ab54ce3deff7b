package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// Member 1 broadcasts at 100 and sends at 110. Member 2 reads the packet at 140 and sends a
// decision at 145, which member 3 reads at 190: its application has the message at 200.
func TestWayOfAMessage(t *testing.T) {
	answers := map[timed.NodeID]*reply{
		1: {Cast: &castCount{Traces: []castTrace{{1, 1, 100, 115}}, Marks: []mark{{Kind: markWrite, At: 90}, {Kind: markWrite, At: 110}}}},
		2: {Cast: &castCount{Traces: []castTrace{{1, 1, 100, 150}}, Marks: []mark{
			{markRead, 140, 95, 1001}, // sent before the call
			{markRead, 140, 120, 1001}, {Kind: markWrite, At: 145}, {Kind: markWrite, At: 170}}}},
		3: {Cast: &castCount{Traces: []castTrace{{1, 1, 100, 200}}, Marks: []mark{{markRead, 130, 122, 1001}, {markRead, 190, 165, 1002}}}},
	}
	port := func(id timed.NodeID) uint16 { return 1000 + uint16(id) }
	c := latencyCell(answers, port)
	require.Equal(t, 1, c.Latency.Count)
	require.EqualValues(t, 100, c.Latency.Max)
	require.Zero(t, c.Unknown)
	require.Equal(t, 2.0, c.Packets)
	took := map[string]time.Duration{}
	for _, s := range c.Stages {
		took[s.Name] = s.Took.Max
	}
	require.Equal(t, map[string]time.Duration{
		"call": 10, "send": 10 + 20, "wake": 20 + 25, "turn": 5, "deliver": 10}, took)

	// Nobody sent the last packet.
	answers[3].Cast.Marks = []mark{{markRead, 190, 165, 1004}}
	c = latencyCell(answers, port)
	require.Equal(t, 1, c.Unknown)

	// The sender has its message last.
	answers[1].Cast.Traces[0].Had = 300
	c = latencyCell(answers, port)
	require.Zero(t, c.Unknown)
	require.Zero(t, c.Packets)
	require.EqualValues(t, 190, c.Stages[stageDeliver].Took.Max)

	// One member never had it.
	answers[2].Cast.Traces = nil
	require.Zero(t, latencyCell(answers, port).Latency.Count)
}

func TestLatency(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs of several processes")
	}
	if err := new(usage).ofProcess(); err != nil {
		t.Skip(err)
	}
	opt := LatencyOptions{Setup: setup(t), Nodes: 3, Size: 64, Atomicities: []failaware.Atomicity{failaware.StrictAtomicity}}
	var r *LatencyResult
	patiently(&opt.For, func() bool {
		var err error
		r, err = Latency(t.Context(), opt)
		require.NoError(t, err)
		return r.Floor.Count > 0 && r.Cells[0].Latency.Count > r.Cells[0].Unknown
	})
	c := r.Cells[0]
	require.Greater(t, c.Latency.Count, c.Unknown)
	require.Greater(t, c.Packets, 1.0, "a member delivers when it knows that all have the message; on a busy machine messages share packets")
	sum := time.Duration(0)
	for _, s := range c.Stages {
		require.Equal(t, c.Latency.Count-c.Unknown, s.Took.Count)
		sum += s.Took.Min
	}
	require.LessOrEqual(t, sum, c.Latency.Max)
	readable(t, r)
}

func TestLatencyNamesWhatIsWrong(t *testing.T) {
	good := LatencyOptions{Setup: setup(t), Nodes: 3, Size: 64, For: time.Second}
	require.NoError(t, good.Check())
	for flag, change := range map[string]func(*LatencyOptions){
		"--nodes":   func(o *LatencyOptions) { o.Nodes = 1 },
		"--size":    func(o *LatencyOptions) { o.Size = castHead - 1 },
		"--seconds": func(o *LatencyOptions) { o.For = 0 },
	} {
		opt := good
		change(&opt)
		require.ErrorContains(t, opt.Check(), flag)
	}
}
