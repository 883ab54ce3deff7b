package failaware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startCast starts a group of count nodes with broadcast.
func startCast(t testing.TB, count int, b BroadcastConfig, timing Timing) []*Node {
	t.Helper()
	var nodes []*Node
	var peers []Peer
	for i := range count {
		n := startNode(t, Config{ID: NodeID(i + 1), Peers: peers, Broadcast: &b, Timing: timing})
		nodes = append(nodes, n)
		peers = append(peers[:len(peers):len(peers)], Peer{n.ID(), n.Addr().String()})
	}
	eventually(t, "one view", func() bool { return inOneView(nodes...) })
	return nodes
}

// loose are the options that ask for least.
var loose = BroadcastOptions{Order: Unordered, Atomicity: WeakAtomicity}

// bounded returns a context that ends the test in the worst case.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// next returns the next message that a node delivers.
func nextMessage(t testing.TB, n *Node) Delivery {
	t.Helper()
	for d, err := range n.Deliveries(bounded(t)) {
		require.NoError(t, err)
		if d.Change == nil {
			return d.Clone()
		}
	}
	return Delivery{}
}

func TestZeroOptionsMeanTotalOrderAndStrongAtomicity(t *testing.T) {
	n := startCast(t, 1, BroadcastConfig{}, LAN())[0]
	out, err := n.BroadcastAndWait(bounded(t), []byte("x"), BroadcastOptions{})
	require.NoError(t, err)
	require.Equal(t, uint64(1), out.Position, "it has a place in the order")
	d := nextMessage(t, n)
	require.Equal(t, []string{"total", "strong"}, []string{d.Order.String(), d.Atomicity.String()})
}

// undisturbed repeats a run, with nodes of its own, until no view has ended that
// should have lasted: a machine that is busy with other things may keep nodes
// waiting for longer than their timing bears, and then they part, as they must.
func undisturbed(t *testing.T, what string, run func(t *testing.T) bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		said := false
		if !t.Run("run", func(t *testing.T) { said = run(t) }) || said {
			return
		}
		if time.Now().After(end) {
			require.FailNow(t, "in vain: "+what)
		}
	}
}

func TestAllCombinationsAreDeliveredInOneOrder(t *testing.T) {
	undisturbed(t, "a view that lasts", allCombinations)
}

// allCombinations reports whether one view lasted until all was delivered.
func allCombinations(t *testing.T) bool {
	nodes := startCast(t, 3, BroadcastConfig{}, WAN())
	view := nodes[0].View().View.ID
	const each = 20
	ctx := bounded(t)
	total := 0
	for _, order := range []Order{Unordered, TotalOrder, TimedOrder} {
		for _, atomicity := range []Atomicity{WeakAtomicity, StrongAtomicity, StrictAtomicity} {
			for i := range each {
				for _, n := range nodes {
					id, err := n.Broadcast(ctx, fmt.Appendf(nil, "%v-%v-%v-%d", n.ID(), order, atomicity, i),
						BroadcastOptions{Order: order, Atomicity: atomicity})
					require.NoError(t, err)
					require.Equal(t, n.ID(), id.Sender)
					total++
				}
			}
		}
	}
	var sequences [][]string
	for _, n := range nodes {
		got := map[string]int{}
		var sequence []string
		last := map[string]uint64{}
		for d, err := range n.Deliveries(bounded(t)) {
			require.NoError(t, err)
			switch d.Change.(type) {
			case NewIncarnation:
				return false
			case TransitionBegins:
				if d.View.ID == view {
					return false
				}
			}
			if d.Change != nil {
				continue
			}
			text := string(d.Payload)
			got[text]++
			require.Equal(t, 1, got[text], "%s is delivered twice", text)
			require.Contains(t, text, fmt.Sprintf("%v-%v-%v-", d.ID.Sender, d.Order, d.Atomicity))
			key := fmt.Sprint(d.ID.Sender, d.ID.Class)
			require.Greater(t, d.ID.Sequence, last[key])
			last[key] = d.ID.Sequence
			if d.Order != Unordered {
				sequence = append(sequence, text)
				require.NotZero(t, d.Position)
			}
			require.Contains(t, d.View.Members, d.View.Members[d.ID.Sender-1])
			if len(got) == total {
				break
			}
		}
		sequences = append(sequences, sequence)
	}
	require.Equal(t, sequences[0], sequences[1])
	require.Equal(t, sequences[0], sequences[2])
	return true
}

func TestOutcomeOfABroadcast(t *testing.T) {
	undisturbed(t, "a view that lasts", outcomeOfABroadcast)
}

// outcomeOfABroadcast reports whether the message was ordered in the view of all
// that there was when it was sent, and that lasted.
func outcomeOfABroadcast(t *testing.T) bool {
	nodes := startCast(t, 3, BroadcastConfig{}, WAN())
	view := nodes[1].View().View
	ctx := bounded(t)
	out, err := nodes[1].BroadcastAndWait(ctx, []byte("x"), BroadcastOptions{TotalOrder, StrictAtomicity, false})
	if errors.Is(err, ErrOutcomeUnknown) {
		return false
	}
	require.NoError(t, err)
	if nodes[1].View().View.ID != view.ID || len(view.Members) != len(nodes) {
		return false
	}
	require.Equal(t, view.ID, out.View.ID)
	require.False(t, out.Transitional)
	require.NotZero(t, out.Position)
	require.Equal(t, nodes[1].ID(), out.ID.Sender)
	require.Less(t, time.Since(out.Stamp.Go()).Abs(), time.Hour)
	d := nextMessage(t, nodes[2])
	require.Equal(t, out.ID, d.ID)
	require.Equal(t, out.Position, d.Position)
	require.Equal(t, out.Stamp, d.Stamp)
	require.Equal(t, out.View.ID, d.View.ID)
	return true
}

// A member that is killed under load holds the others up for a view change only, and
// they go on delivering the same.
func TestSurvivorsAgreeWhenAMemberIsKilled(t *testing.T) {
	undisturbed(t, "survivors that move together", survivors)
}

// step is a move from one view to another; to none: the view that the test ends in.
type step struct{ from, to ViewID }

const lastMessage = "last"

// streamOf returns the messages that a node delivers up to the last one, by the views
// between which it moves, and calls got for each.
func streamOf(t *testing.T, ctx context.Context, n *Node, got func()) map[step][]MessageID {
	stream := map[step][]MessageID{}
	var view ViewID
	var ids []MessageID
	for d, err := range n.Deliveries(ctx) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			break
		}
		switch d.Change.(type) {
		case ViewChange:
			stream[step{view, d.View.ID}] = ids
			view, ids = d.View.ID, nil
		case nil:
			ids = append(ids, d.ID)
			got()
			if string(d.Payload) == lastMessage {
				stream[step{from: view}] = ids
				return stream
			}
		}
	}
	return stream
}

// survivors reports whether the survivors moved together from one view to the next
// with messages in between: other runs prove nothing.
func survivors(t *testing.T) bool {
	nodes := startCast(t, 3, BroadcastConfig{Window: 256 << 10, MaxPayload: 4 << 10}, WAN())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var senders, receivers sync.WaitGroup
	for _, n := range nodes {
		senders.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, _ = n.Broadcast(ctx, make([]byte, i%3000), BroadcastOptions{Order: TotalOrder, Atomicity: Atomicity(i % 3)})
			}
		})
	}
	var streams [2]map[step][]MessageID
	enough := make(chan struct{})
	listening, parted := context.WithCancel(bounded(t))
	defer parted()
	for i, n := range nodes[:2] {
		count := 0
		receivers.Go(func() {
			streams[i] = streamOf(t, listening, n, func() {
				if count++; i == 0 && count == 500 {
					close(enough)
				}
			})
		})
	}
	select {
	case <-enough:
	case <-bounded(t).Done():
		require.FailNow(t, "in vain: messages")
	}
	require.NoError(t, nodes[2].Close())
	eventually(t, "a view of the others", func() bool { return inOneView(nodes[:2]...) })
	stop()
	senders.Wait()
	out, err := nodes[1].BroadcastAndWait(bounded(t), []byte(lastMessage), BroadcastOptions{Order: TotalOrder, Atomicity: StrictAtomicity})
	if errors.Is(err, ErrOutcomeUnknown) || err == nil && (out.Transitional || len(out.View.Members) < 2) {
		parted() // one of them may never deliver it
		receivers.Wait()
		return false
	}
	require.NoError(t, err)
	receivers.Wait()
	together := false
	for s, ids := range streams[0] {
		if other, ok := streams[1][s]; ok {
			require.Equal(t, ids, other, "%v", s)
			together = together || !s.to.None() && len(ids) > 0
		}
	}
	return together
}
