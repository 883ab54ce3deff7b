package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// inbox collects what the nodes of a calm world are told.
type inbox map[timed.NodeID][]Message

func (b inbox) start(n *Node) Handlers {
	return Handlers{Deliver: func(m Message) { b[n.ID()] = append(b[n.ID()], m) }}
}

func TestMessagesArrive(t *testing.T) {
	got := inbox{}
	w := calm(t, 3, got.start)
	payload := []byte("to all")
	w.Node(1).SendAll(payload)
	payload[0] = 'T' // it has been copied
	w.Node(1).Send(2, nil)
	w.Node(1).Send(1, payload) // the sender, and nobody: lost
	w.Node(1).Send(0, payload)
	w.Node(1).Send(4, payload)
	require.NoError(t, w.Run(time.Second))
	require.Len(t, got[2], 2)
	require.Len(t, got[3], 1)
	require.Empty(t, got[1])
	m := got[3][0]
	require.Equal(t, "to all", string(m.Payload))
	require.Equal(t, w.Node(1).Incarnation(), m.From)
	require.True(t, m.Delay.Fast)
	require.LessOrEqual(t, m.Delay.Bound, w.opt.Timing.FastThreshold)
}

// A process may speak as it starts; its messages count once it is accepted.
func TestSendFromStart(t *testing.T) {
	got := 0
	w, err := New(1, Options{Nodes: 5, Calm: true, App: only(func(n *Node) Handlers {
		n.SendAll([]byte("too early"))
		n.After(5*time.Second, func() { n.SendAll([]byte("now")) })
		return Handlers{Deliver: func(m Message) {
			require.Equal(t, "now", string(m.Payload))
			got++
		}}
	})})
	require.NoError(t, err)
	require.NoError(t, w.Run(6*time.Second))
	require.Equal(t, 5*4, got)
}

func TestMessagesSufferFaults(t *testing.T) {
	at := func(f fault.Fault, payload string) int {
		got := inbox{}
		w := calm(t, 2, got.start)
		require.NoError(t, w.Inject(f))
		w.Node(1).Send(2, []byte(payload))
		require.NoError(t, w.Run(time.Second))
		return len(got[2])
	}
	require.Equal(t, 0, at(fault.Fault{Kind: fault.Cut, Node: 1, Peer: 2}, ""))
	require.Equal(t, 1, at(fault.Fault{Kind: fault.Cut, Node: 2, Peer: 1, For: 100 * time.Millisecond}, ""))
	require.Equal(t, 2, at(fault.Fault{Kind: fault.Duplicate, Rate: 1}, ""))
	require.Equal(t, 0, at(fault.Fault{Kind: fault.Corrupt, Rate: 1, For: time.Millisecond}, ""))
	require.Equal(t, 0, at(fault.Fault{Kind: fault.SocketError, Node: 1, Rate: 1}, ""))
	require.Equal(t, 1, at(fault.Fault{Kind: fault.BlackHole, Size: 400}, "short"))
	require.Equal(t, 0, at(fault.Fault{Kind: fault.BlackHole, Size: 400}, strings.Repeat("long ", 100)), "the payload has a size")
	require.Equal(t, 1, at(fault.Fault{Kind: fault.Forge, Rate: 1}, ""), "what is forged carries no message")
	require.Equal(t, 0, at(fault.Fault{Kind: fault.Stall, Node: 1, For: 2 * time.Second}, ""), "a stopped process sends nothing")
	require.Equal(t, 1, at(fault.Fault{Kind: fault.Stall, Node: 1, For: 500 * time.Millisecond}, ""), "until that ends")
	require.Equal(t, 0, at(fault.Fault{Kind: fault.Crash, Node: 2, For: 50 * time.Millisecond}, ""), "nobody is there")
}

func TestMessagesAreTracedAndRecorded(t *testing.T) {
	var b strings.Builder
	w, err := New(1, Options{Nodes: 2, Calm: true, Trace: &b})
	require.NoError(t, err)
	require.NoError(t, w.Run(5*time.Second))
	r := w.Record()
	w.Node(1).Send(2, make([]byte, 17))
	require.NoError(t, w.Run(100*time.Millisecond))
	require.Contains(t, b.String(), "message of 17 bytes")
	said := 0
	for _, m := range r.Messages {
		if strings.HasSuffix(m.Says, "message of 17 bytes") {
			said++
		}
	}
	require.Equal(t, 1, said)
}

func TestLimitsOfApplications(t *testing.T) {
	w := calm(t, 2, nil)
	n := w.Node(1)
	n.Send(2, make([]byte, MaxPayload))
	require.PanicsWithValue(t, "sim: a payload of 1048577 bytes: at most 1048576", func() { n.Send(2, make([]byte, MaxPayload+1)) })

	n.After(0, func() {
		for range MaxRequests + 1 {
			n.Send(2, nil)
		}
	})
	require.ErrorContains(t, w.Run(time.Second), "more than 16384 requests in one turn")

	w = calm(t, 2, nil)
	n = w.Node(1)
	for range MaxTimers {
		n.After(time.Hour, func() {})
	}
	require.PanicsWithValue(t, "sim: more than 65536 timers", func() { n.After(0, func() {}) })
}
