package loop

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/loop/sendqueue"
	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// fakeConn is a connection that records its calls for a test, and whose clock the
// test sets.
type fakeConn struct {
	now      atomic.Int64
	wakes    int
	written  int
	hastened timed.Instant
	stats    udp.Stats
	local    netip.AddrPort
	read     func() // if not nil, called by ReadBatch
}

func (c *fakeConn) ReadBatch([]udp.Packet, timed.Instant) (int, error) {
	if c.read != nil {
		c.read()
	}
	return 0, nil
}

func (c *fakeConn) WriteBatch(pkts []udp.Packet) (int, error) {
	c.written += len(pkts)
	return len(pkts), nil
}

func (c *fakeConn) Wake()                         { c.wakes++ }
func (c *fakeConn) LocalAddr() netip.AddrPort     { return c.local }
func (c *fakeConn) Stats() udp.Stats              { return c.stats }
func (c *fakeConn) Close() error                  { return nil }
func (c *fakeConn) Expect(time.Duration)          {}
func (c *fakeConn) Waited() bool                  { return true }
func (c *fakeConn) Hasten(deadline timed.Instant) { c.hastened = deadline }

func (c *fakeConn) advance(d time.Duration) { c.now.Add(int64(d)) }

func (c *fakeConn) instant() timed.Instant { return timed.Instant(c.now.Load()) }

// recorder is a sink that keeps its reports.
type recorder struct {
	events   []stack.EventKind
	told     *wire.Settings // of the last event about other settings
	stranger bool           // it was another node with the peer's id
	restarts []life.Reason
	warnings []string
}

func (r *recorder) Warn(text string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintln(append([]any{text}, args...)...))
}

func (r *recorder) Event(e *stack.Event) {
	r.events = append(r.events, e.Kind)
	if e.Kind == stack.EventMismatch || e.Kind == stack.EventOtherQuorum {
		r.told, r.stranger = e.Settings, e.Elsewhere
	}
}

// count returns how many events of a kind there were.
func (r *recorder) count(kind stack.EventKind) (n int) {
	for _, k := range r.events {
		if k == kind {
			n++
		}
	}
	return n
}

func (r *recorder) Restarted(why life.Reason, _, _ timed.BootID) {
	r.restarts = append(r.restarts, why)
}

// newTestLoop returns a loop that waits for packets and is alone in its view, and its
// connection. Nothing runs it.
func newTestLoop(t testing.TB) (*Loop, *fakeConn) {
	t.Helper()
	l, c := newLoop(nil)
	d := l.driver
	for d.stack == nil || d.stack.BroadcastState().View() == nil {
		step(l, c)
	}
	d.clock.until = timed.Never
	c.advance(time.Millisecond)
	return l, c
}

// newLoop returns a loop that has taken no turn, and its connection. Its
// configuration is changed first, unless change is nil.
func newLoop(change func(*Config)) (*Loop, *fakeConn) {
	c := &fakeConn{hastened: timed.Never}
	c.now.Store(int64(time.Hour))
	random := uint64(0)
	cast := broadcast.Config{PacketBytes: 1000}.WithDefaults()
	cfg := Config{
		Stack: stack.Config{Self: timed.Incarnation{Node: 1}, Timing: timed.LAN(), Broadcast: &cast,
			MaxDeviation: time.Millisecond, MaxSlew: 500_000, StepThreshold: 10 * time.Millisecond,
			MaxUTCError: 50 * time.Millisecond, MinReferences: 1},
		MaxPeers: 254, MaxPacket: 1200, Settings: wire.Settings{Group: "ours"}, Deliver: true, Backlog: cast.Backlog,
		Conn: c, Clock: hwclock.Of(c.now.Load), Wall: func() time.Time { return time.Unix(1_700_000_000, c.now.Load()) }, Random: func() uint64 { random++; return random },
		Peers: peers.NewResolver(peers.Options{Self: 1, Changed: func() {}}, nil),
		Sink:  &recorder{},
	}
	if change != nil {
		change(&cfg)
	}
	return New(cfg, new(atomic.Bool)), c
}

// stateOf opens the state of node 1 in a directory for the time of the test.
func stateOf(t testing.TB, dir string, maxLock time.Duration) *statedir.Dir {
	t.Helper()
	d, err := statedir.Open(dir, statedir.Owner{ID: 1, Group: "a group"}, maxLock)
	require.NoError(t, err)
	require.NoError(t, d.Begin())
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// step has the loop take the turn that is due next.
func step(l *Loop, c *fakeConn) {
	c.now.Store(int64(timed.Later(c.instant(), l.driver.deadline())))
	l.driver.turn(nil, l.cfg.Clock.Read())
}

// send broadcasts a message.
func send(t *testing.T, l *Loop) {
	t.Helper()
	_, err := l.Sends().Send(t.Context(), sendqueue.Application, []byte("a word"), broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}, nil, false)
	require.NoError(t, err)
}

// nextMessage returns the payload of the next delivery.
func nextMessage(t *testing.T, l *Loop) string {
	t.Helper()
	for {
		items, _, _ := l.Deliveries().Borrow(1)
		require.NotEmpty(t, items)
		if p := items[0].Message.Payload; p != nil {
			return string(p)
		}
	}
}
