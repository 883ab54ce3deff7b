package failaware

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/hwclock"
)

// held starts a node whose loop hands no messages over until the returned
// function is called: it has no incarnation.
func held(t *testing.T, b BroadcastConfig) (*Node, func()) {
	t.Helper()
	n := startNode(t, Config{ID: 1, Broadcast: &b})
	n.loop.JudgeRate(hwclock.RateFaulty)
	eventually(t, "waiting", func() bool { return n.Status().Waiting == event.ClockRate })
	return n, func() { n.loop.JudgeRate(hwclock.RateFine) }
}

func TestBroadcastSaysWhatIsWrong(t *testing.T) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{MaxPayload: 10}})
	ctx := t.Context()
	_, err := n.Broadcast(ctx, make([]byte, 11), loose)
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, "11 bytes, and MaxPayload is 10")
	_, err = n.Broadcast(ctx, nil, BroadcastOptions{Order: 3, Atomicity: WeakAtomicity})
	require.ErrorIs(t, err, ErrMessageOptions)
	_, err = n.Receive(ctx, nil)
	require.ErrorContains(t, err, "without room")
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err = n.Broadcast(done, nil, loose)
	require.ErrorIs(t, err, context.Canceled)
	_, err = n.Receive(done, make([]Delivery, 1))
	require.ErrorIs(t, err, context.Canceled)

	off := startNode(t, Config{ID: 1, Group: "off"})
	_, err = off.Broadcast(ctx, nil, loose)
	require.ErrorIs(t, err, ErrBroadcastOff)
	_, err = off.Receive(ctx, make([]Delivery, 1))
	require.ErrorIs(t, err, ErrBroadcastOff)
	for _, err := range off.Deliveries(ctx) {
		require.ErrorIs(t, err, ErrBroadcastOff)
	}

	alone := startNode(t, Config{ID: 1, Group: "q", Quorum: majorityOf(t, 1, 2, 3), Broadcast: &BroadcastConfig{RequireQuorum: true}})
	eventually(t, "a view", func() bool { return alone.View().UpToDate })
	_, err = alone.Broadcast(ctx, nil, BroadcastOptions{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.ErrorIs(t, err, ErrNoQuorum)
	_, err = alone.BroadcastAndWait(ctx, nil, loose)
	require.NoError(t, err, "what has no order needs no quorum")
}

func TestBroadcastConfigNamesWhatIsWrong(t *testing.T) {
	for want, b := range map[string]BroadcastConfig{
		"Broadcast.Window: 1 is outside":                            {Window: 1},
		"Broadcast.MaxMessages: -1 is outside":                      {MaxMessages: -1},
		"Broadcast.MaxMessages: 16 is below":                        {MaxMessages: 16},
		"Broadcast.MaxPayload:":                                     {MaxPayload: -1},
		"Broadcast.PacketBytes: 100 is outside":                     {PacketBytes: 100},
		"Broadcast.Backlog:":                                        {Backlog: -1},
		"Broadcast.SlowAfter:":                                      {SlowAfter: -1},
		"Broadcast.RequireQuorum: it needs a Quorum, or JoinQuorum": {RequireQuorum: true},
	} {
		_, err := Config{ID: 1, Broadcast: &b}.Validate()
		require.ErrorContains(t, err, want)
	}
	c := Config{ID: 1, MaxPacket: 9000, Broadcast: &BroadcastConfig{}}
	require.Equal(t, 9000-packetOverhead, c.WithDefaults().Broadcast.PacketBytes)
	require.Zero(t, c.Broadcast.PacketBytes, "the caller's own stays as it is")
}

func TestBroadcastWaitsForTheWindow(t *testing.T) {
	n, release := held(t, BroadcastConfig{})
	payload := make([]byte, 1000)
	accepted := 0
	for {
		_, err := n.Broadcast(t.Context(), payload, BroadcastOptions{NoWait: true, Order: Unordered, Atomicity: WeakAtomicity})
		if err != nil {
			require.Equal(t, ErrWindowFull, err)
			break
		}
		accepted++
	}
	require.Greater(t, accepted, 100)
	_, err := n.Broadcast(t.Context(), payload, BroadcastOptions{Order: TotalOrder, NoWait: true, Atomicity: WeakAtomicity})
	require.NoError(t, err, "the other class has room of its own")
	cause := errors.New("enough")
	eventually(t, "a wait for room that ends", func() bool {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, cause)
		defer cancel()
		_, err := n.Broadcast(ctx, payload, loose)
		require.ErrorIs(t, err, cause)
		return errors.Is(err, ErrWindowFull) // unless it ended before the wait
	})

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_, err := n.Broadcast(t.Context(), payload, loose)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	release()
	wg.Wait()
	last := uint64(0)
	for got := 0; got < accepted+1+8*50; got++ {
		if d := nextMessage(t, n); d.ID.Class == 0 {
			require.Greater(t, d.ID.Sequence, last)
			last = d.ID.Sequence
		}
	}
}

func TestCloseAndLeaveEndBroadcasts(t *testing.T) {
	for name, end := range map[string]func(*Node){
		"close": func(n *Node) { _ = n.Close() },
		"leave": func(n *Node) { _ = n.Leave(bounded(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			nodes := startCast(t, 2, BroadcastConfig{Window: 64 << 10, MaxPayload: 1 << 10}, Local())
			n := nodes[0]
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for {
						_, err := n.Broadcast(context.Background(), make([]byte, 500), loose)
						if err != nil {
							if !errors.Is(err, ErrClosed) {
								t.Error(err)
							}
							return
						}
					}
				})
				wg.Go(func() {
					for {
						_, err := n.BroadcastAndWait(context.Background(), nil, BroadcastOptions{Atomicity: StrictAtomicity, Order: Unordered})
						if err == nil {
							continue
						}
						if u := (*UnknownOutcomeError)(nil); errors.As(err, &u) && u.Reason != NodeStopped || u == nil && !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
				})
				wg.Go(func() {
					for _, err := range nodes[1].Deliveries(t.Context()) {
						if err != nil {
							return
						}
					}
				})
			}
			_ = nextMessage(t, n)
			end(n)
			_ = nodes[1].Close()
			wg.Wait()
			_, err := n.Broadcast(context.Background(), nil, loose)
			require.ErrorIs(t, err, ErrClosed)
			for _, err := range n.Deliveries(t.Context()) { // what it had delivered, and then the end
				if err != nil {
					require.ErrorIs(t, err, ErrClosed)
				}
			}
		})
	}
}

func TestRestartEndsOutcomesAndShowsInTheDeliveries(t *testing.T) {
	n, release := held(t, BroadcastConfig{})
	result := make(chan error)
	go func() {
		_, err := n.BroadcastAndWait(t.Context(), []byte("lost"), loose)
		result <- err
	}()
	eventually(t, "a message", func() bool { return n.loop.Sends().Awaited(broadcast.ClassUnordered) })
	release()
	n.loop.JudgeRate(hwclock.RateFaulty)
	err := <-result
	require.ErrorIs(t, err, ErrOutcomeUnknown)
	require.ErrorContains(t, err, string(IncarnationEnded))
	release()
	out, err := n.BroadcastAndWait(bounded(t), []byte("x"), BroadcastOptions{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.NoError(t, err)
	require.Equal(t, n.Status().Boot, out.ID.Boot)
	var changes []string
	for d, err := range n.Deliveries(bounded(t)) {
		require.NoError(t, err)
		changes = append(changes, fmt.Sprintf("%T", d.Change))
		if c, ok := d.Change.(NewIncarnation); ok {
			require.NotEmpty(t, c.Reason)
			require.NotZero(t, c.Boot)
		}
		if d.Change == nil {
			require.Equal(t, "x", string(d.Payload))
			break
		}
	}
	const again = "failaware.NewIncarnation"
	tail := changes[slices.Index(changes, again):]
	require.Equal(t, []string{again, again, "failaware.ViewChange", "<nil>"}, tail)
}

func TestWaitForAnOutcomeCanEnd(t *testing.T) {
	n, release := held(t, BroadcastConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for !n.loop.Sends().Awaited(broadcast.ClassOrdered) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, err := n.BroadcastAndWait(ctx, []byte("later"), BroadcastOptions{Order: TotalOrder, Atomicity: WeakAtomicity})
	require.ErrorIs(t, err, ErrOutcomeUnknown)
	require.ErrorIs(t, err, context.Canceled)
	u := (*UnknownOutcomeError)(nil)
	require.ErrorAs(t, err, &u)
	require.Equal(t, NotAwaited, u.Reason)
	release()
	require.Equal(t, u.ID, nextMessage(t, n).ID, "it was sent all the same")
}

// A wait that the caller has given up is used by nobody else: what becomes of its message still
// comes to it, at the latest when the node stops.
func TestAWaitThatEndedIsNotUsedAgain(t *testing.T) {
	n, release := held(t, BroadcastConfig{})
	for given := 0; given < 8; {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		_, err := n.BroadcastAndWait(ctx, nil, BroadcastOptions{})
		cancel()
		if errors.Is(err, ErrOutcomeUnknown) {
			given++
		}
	}
	release()
	_, err := n.BroadcastAndWait(bounded(t), nil, BroadcastOptions{})
	require.NoError(t, err)
	go func() { _ = n.Close() }()
	select {
	case <-n.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the node waits to give an outcome")
	}
}

func TestDeliveriesHaveOneConsumer(t *testing.T) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{}})
	for i := range 10 {
		_, err := n.BroadcastAndWait(bounded(t), fmt.Appendf(nil, "%d", i), loose)
		require.NoError(t, err)
	}
	var got []string
	for range 10 { // each leaves the rest to the next
		for d, err := range n.Deliveries(bounded(t)) {
			require.NoError(t, err)
			_, other := n.Receive(t.Context(), make([]Delivery, 1))
			require.ErrorIs(t, other, ErrConsumer)
			if d.Change == nil {
				got = append(got, string(d.Payload))
				break
			}
		}
	}
	require.Equal(t, "0 1 2 3 4 5 6 7 8 9", strings.Join(got, " "))
}

func TestSendOnlyNodeKeepsNothing(t *testing.T) {
	n := startNode(t, Config{ID: 1, Broadcast: &BroadcastConfig{SendOnly: true, Backlog: 1, SlowAfter: 10 * time.Millisecond}})
	for range 100 {
		_, err := n.BroadcastAndWait(bounded(t), make([]byte, 100), loose)
		require.NoError(t, err)
	}
	_, err := n.Receive(t.Context(), make([]Delivery, 1))
	require.ErrorIs(t, err, ErrSendOnly)
	require.Equal(t, 1, n.Status().Incarnations)
}

// A node whose application takes nothing says so, gives up its incarnation, and
// comes back when the application has caught up. The others go on meanwhile, and
// it misses nothing that it had delivered.
func TestSlowConsumerHoldsUpNobodyElse(t *testing.T) {
	nodes := startCast(t, 3, BroadcastConfig{Window: 48 << 10, MaxPayload: 1 << 10, Backlog: 8 << 10, SlowAfter: 50 * time.Millisecond}, WAN())
	slow, fast := nodes[2], nodes[:2]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reading, enough := context.WithCancel(t.Context()) // longer than there is anything to read
	var wg, readers sync.WaitGroup
	defer readers.Wait()
	defer enough()
	defer wg.Wait()
	for _, n := range fast {
		wg.Go(func() {
			for ctx.Err() == nil {
				_, _ = n.Broadcast(ctx, make([]byte, 200), BroadcastOptions{Order: TotalOrder, Atomicity: WeakAtomicity})
			}
		})
		readers.Go(func() {
			for range n.Deliveries(reading) {
			}
		})
	}
	defer cancel()
	warned := false
	for e := range slow.EventsSince(bounded(t), 0) {
		if s, ok := e.(event.SlowConsumer); ok {
			warned = true
			require.Greater(t, s.Backlog, int64(8<<10))
		}
		if r, ok := e.(event.Restarted); ok {
			require.Equal(t, event.Overrun, r.Reason)
			break
		}
	}
	require.True(t, warned)
	eventually(t, "a view of the others", func() bool { return inOneView(fast...) })
	eventually(t, "an outcome", func() bool { // unknown should a busy machine part them
		_, err := fast[0].BroadcastAndWait(bounded(t), nil, BroadcastOptions{Order: TotalOrder, Atomicity: StrictAtomicity})
		return err == nil
	})
	require.Equal(t, event.Overrun, slow.Status().Waiting, "it waits for its application")
	require.Less(t, slow.loop.Deliveries().Backlog(), int64(8<<10+2*48<<10), "the backlog and a window")

	require.NotZero(t, countWhole(t, slow))
	cancel()
	wg.Wait()
	eventually(t, "one view", func() bool { return inOneView(nodes...) })
}

// countWhole counts the messages that a node delivers in its incarnation, of which none
// is left out.
func countWhole(t *testing.T, n *Node) (messages int) {
	position := uint64(0)
	for d, err := range n.Deliveries(bounded(t)) {
		require.NoError(t, err)
		if _, over := d.Change.(NewIncarnation); over {
			return messages
		}
		switch d.Change.(type) {
		case ViewChange:
			position = 0
		case nil:
			messages++
			position++
			require.Equal(t, position, d.Position, "nothing is left out")
		}
	}
	return messages
}
