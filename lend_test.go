package failaware

import (
	"net/netip"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// lentConn is a transport of which a test sees what is done with it.
type lentConn struct {
	now      atomic.Int64
	wakes    int
	written  int
	hastened timed.Instant
	read     func() // if not nil, called by ReadBatch
}

func (c *lentConn) ReadBatch([]udp.Packet, timed.Instant) (int, error) {
	if c.read != nil {
		c.read()
	}
	return 0, nil
}
func (c *lentConn) WriteBatch(pkts []udp.Packet) (int, error) {
	c.written += len(pkts)
	return len(pkts), nil
}
func (c *lentConn) Wake()                         { c.wakes++ }
func (c *lentConn) LocalAddr() netip.AddrPort     { return netip.AddrPort{} }
func (c *lentConn) Stats() udp.Stats              { return udp.Stats{} }
func (c *lentConn) Close() error                  { return nil }
func (c *lentConn) Expect(time.Duration)          {}
func (c *lentConn) Waited() bool                  { return true }
func (c *lentConn) Hasten(deadline timed.Instant) { c.hastened = deadline }

// steadyConn is a transport whose wait cannot be made shorter.
type steadyConn struct{ transport.Conn }

// lentNode returns a node whose loop waits for packets until an instant, alone in
// its view, and its transport.
func lentNode(t *testing.T) (*Node, *lentConn) {
	t.Helper()
	cfg := Config{ID: 1, Group: "lent", Listen: "127.0.0.1:0", Broadcast: &BroadcastConfig{}}
	_, err := cfg.Validate()
	require.NoError(t, err)
	cfg = cfg.WithDefaults()
	c := &lentConn{hastened: timed.Never}
	c.now.Store(int64(time.Hour))
	random := uint64(0)
	n := &Node{cfg: cfg, log: cfg.Logger, clock: hwclock.Of(c.now.Load), conn: c, hub: newHub(cfg.EventBuffer),
		random: func() uint64 { random++; return random }, done: make(chan struct{}),
		outlet: newOutlet(cfg.ID, cfg.Broadcast), inbox: newInbox(cfg.Broadcast.Backlog)}
	n.peers = peers.NewResolver(peers.Options{Self: cfg.ID, Changed: func() {}}, nil)
	n.loop = newDriver(n, nil)
	for d := n.loop; d.stack == nil || d.stack.Cast().View() == nil; {
		c.now.Store(int64(timed.Later(timed.Instant(c.now.Load()), d.deadline())))
		d.turn(nil, n.clock.Read())
	}
	n.loop.until = timed.Never
	c.advance(time.Millisecond)
	return n, c
}

func (c *lentConn) advance(d time.Duration) { c.now.Add(int64(d)) }

func (c *lentConn) instant() timed.Instant { return timed.Instant(c.now.Load()) }

// say broadcasts a message.
func say(t *testing.T, n *Node) {
	t.Helper()
	_, err := n.Broadcast(bounded(t), []byte("a word"), BroadcastOptions{})
	require.NoError(t, err)
}

func TestALoneMessageIsTakenByItsCaller(t *testing.T) {
	n, c := lentNode(t)
	say(t, n)
	require.Zero(t, c.wakes)
	require.Equal(t, "a word", string(nextMessage(t, n).Payload))
	// The loop hears of what is due earlier now, without being woken.
	require.Equal(t, timed.Later(n.loop.deadline(), n.loop.now), timed.Later(c.hastened, n.loop.now))
	require.Equal(t, c.hastened, n.loop.until)

	n.loop.until = c.instant().Add(aloneAfter + 1) // nothing is due before
	c.hastened = timed.Never
	c.advance(aloneAfter)
	say(t, n)
	require.Zero(t, c.wakes)
	require.Equal(t, timed.Never, c.hastened)
}

// Each of these turns is for the loop.
func TestTurnsThatACallerDoesNotTake(t *testing.T) {
	for name, spoil := range map[string]func(*Node, *lentConn){
		"the loop is in a turn":             func(n *Node, _ *lentConn) { n.loop.mu.Lock() },
		"the loop has ended":                func(n *Node, _ *lentConn) { n.loop.mu.Lock(); n.loop.finish() },
		"a timer is due":                    func(n *Node, c *lentConn) { n.loop.until = c.instant() },
		"messages come one after the other": func(n *Node, c *lentConn) { n.loop.cast.took = c.instant().Add(1 - aloneAfter) },
		"the machine was asleep":            func(n *Node, _ *lentConn) { n.loop.epoch-- },
		"the clock runs backwards":          func(n *Node, c *lentConn) { n.loop.now = c.instant().Add(1) },
		"the node is leaving":               func(n *Node, _ *lentConn) { n.loop.leaving = true },
		"the node is closing":               func(n *Node, _ *lentConn) { n.closing.Store(true) },
		"an incarnation is over":            func(n *Node, _ *lentConn) { n.loop.stack = nil },
		"the wait cannot be made shorter":   func(n *Node, c *lentConn) { n.loop.cast.look, _ = transport.Conn(steadyConn{c}).(lookout) },
		"the node has ended":                func(n *Node, _ *lentConn) { n.loop.ended = true },
		"there is a command":                func(n *Node, _ *lentConn) { n.do(func(*driver) {}) },
		"there are other peers":             func(n *Node, _ *lentConn) { n.peers.Set(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			n, c := lentNode(t)
			spoil(n, c)
			now := n.loop.now
			require.False(t, n.loop.lend())
			require.Equal(t, now, n.loop.now, "no turn was taken")
		})
	}
}

func TestTheLoopIsWokenForWhatACallerDoesNotTake(t *testing.T) {
	n, c := lentNode(t)
	n.loop.until = c.instant()
	before := n.inbox.backlog.Load()
	say(t, n)
	require.Equal(t, 1, c.wakes)
	require.Equal(t, before, n.inbox.backlog.Load())
	n.loop.turn(nil, n.clock.Read())
	require.Equal(t, "a word", string(nextMessage(t, n).Payload))
}

// A turn that ends the node leaves the ending to the loop, which takes no other turn
// before it.
func TestALentTurnThatEndsTheNodeWakesTheLoop(t *testing.T) {
	n, c := lentNode(t)
	d := n.loop
	d.after = append(d.after, func() { d.fail(ErrClosed) })
	require.True(t, d.lend())
	require.Equal(t, 1, c.wakes)
	c.advance(time.Second)
	written, now := c.written, d.now
	require.False(t, d.lend())
	require.Equal(t, []any{written, now}, []any{c.written, d.now})
}

func TestTheLoopTakesNoTurnAfterTheLast(t *testing.T) {
	n, c := lentNode(t)
	d := n.loop
	said := 0
	c.read = func() { // a caller takes the last turn while the loop waits
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ended, said = true, c.written
		c.advance(time.Second)
		d.after = append(d.after, func() { t.Error("another turn") })
	}
	d.run()
	require.Equal(t, said, c.written)
}

// crashing is the environment variable that makes the test below the process that
// is to crash.
const crashing = "FAILAWARE_TEST_CRASH"

func TestAPanicInALentTurnEndsTheProcess(t *testing.T) {
	if os.Getenv(crashing) != "" {
		n, _ := lentNode(t)
		n.loop.after = append(n.loop.after, func() { panic("broken") })
		func() {
			defer func() { _ = recover() }() // as the server of the API does
			n.loop.lend()
		}()
		os.Exit(0)
	}
	p := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	p.Env = append(os.Environ(), crashing+"=1")
	out, err := p.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	require.Equal(t, 2, exit.ExitCode(), "%s", out)
	require.Contains(t, string(out), "broken")
	require.Contains(t, string(out), "lend_test.go", "where it happened")
}

// Over UDP, messages with pauses between them are mostly taken by their callers.
func TestCallersTakeTurnsOverUDP(t *testing.T) {
	nodes := startCast(t, 2, BroadcastConfig{}, WAN())
	taken := func() (n uint64) {
		nodes[0].loop.mu.Lock()
		defer nodes[0].loop.mu.Unlock()
		return nodes[0].loop.count.lent
	}
	for sent := 0; taken() == 0; sent++ {
		require.Less(t, sent, 10_000, "no turn was lent")
		time.Sleep(time.Millisecond)
		say(t, nodes[0])
		nextMessage(t, nodes[1])
	}
}
