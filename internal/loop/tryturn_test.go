package loop

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/timed"
)

// steadyConn is a connection whose wait cannot be made shorter.
type steadyConn struct{ transport.Conn }

func TestACallerSendsALoneMessage(t *testing.T) {
	l, c := newTestLoop(t)
	send(t, l)
	require.Zero(t, c.wakes)
	require.Equal(t, "a word", nextMessage(t, l))
	// The wait of the loop ends earlier now, without a wake.
	d := l.driver
	require.Equal(t, timed.Later(d.deadline(), d.clock.now), timed.Later(c.hastened, d.clock.now))
	require.Equal(t, c.hastened, d.clock.until)

	d.clock.until = c.instant().Add(aloneAfter + 1) // nothing is due before
	c.hastened = timed.Never
	c.advance(aloneAfter)
	send(t, l)
	require.Zero(t, c.wakes)
	require.Equal(t, timed.Never, c.hastened)
}

// Each of these turns is left to the loop.
func TestTurnsThatACallerDoesNotTake(t *testing.T) {
	for name, spoil := range map[string]func(*driver, *fakeConn){
		"the loop is in a turn":             func(d *driver, _ *fakeConn) { d.mu.Lock() },
		"the loop has ended":                func(d *driver, _ *fakeConn) { d.mu.Lock(); d.finish() },
		"a timer is due":                    func(d *driver, c *fakeConn) { d.clock.until = c.instant() },
		"messages come one after the other": func(d *driver, c *fakeConn) { d.msgs.took = c.instant().Add(1 - aloneAfter) },
		"the machine was asleep":            func(d *driver, _ *fakeConn) { d.clock.era-- },
		"the clock runs backwards":          func(d *driver, c *fakeConn) { d.clock.now = c.instant().Add(1) },
		"the node is leaving":               func(d *driver, _ *fakeConn) { d.life.Leave() },
		"the node is closing":               func(d *driver, _ *fakeConn) { d.l.closing.Store(true) },
		"an incarnation is over":            func(d *driver, _ *fakeConn) { d.stack = nil },
		"the wait cannot be made shorter":   func(d *driver, c *fakeConn) { d.msgs.wait, _ = transport.Conn(steadyConn{c}).(shortWait) },
		"the node has ended":                func(d *driver, _ *fakeConn) { d.life.End() },
		"there is a command":                func(d *driver, _ *fakeConn) { d.l.do(func(*driver) {}) },
		"there are other peers":             func(d *driver, _ *fakeConn) { d.l.cfg.Peers.Set(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			l, c := newTestLoop(t)
			spoil(l.driver, c)
			now := l.driver.clock.now
			require.False(t, l.driver.tryTurn())
			require.Equal(t, now, l.driver.clock.now, "no turn was taken")
		})
	}
}

func TestTheLoopIsWokenForMessagesThatItsCallerDoesNotSend(t *testing.T) {
	l, c := newTestLoop(t)
	l.driver.clock.until = c.instant()
	before := l.Deliveries().Backlog()
	send(t, l)
	require.Equal(t, 1, c.wakes)
	require.Equal(t, before, l.Deliveries().Backlog())
	l.driver.turn(nil, l.cfg.Clock.Read())
	require.Equal(t, "a word", nextMessage(t, l))
}

// A caller's turn that ends the node leaves the ending to the loop, and is the last.
func TestACallersTurnThatEndsTheNodeWakesTheLoop(t *testing.T) {
	l, c := newTestLoop(t)
	d := l.driver
	d.report.after(func() { d.fail(errors.New("the end"), false) })
	require.True(t, l.driver.tryTurn())
	require.Equal(t, 1, c.wakes)
	c.advance(time.Second)
	written, now := c.written, d.clock.now
	require.False(t, l.driver.tryTurn())
	require.Equal(t, []any{written, now}, []any{c.written, d.clock.now})
}

func TestTheLoopTakesNoTurnAfterTheLast(t *testing.T) {
	l, c := newTestLoop(t)
	d := l.driver
	written := 0
	c.read = func() { // a caller takes the last turn while the loop waits
		d.mu.Lock()
		defer d.mu.Unlock()
		d.life.End()
		written = c.written
		c.advance(time.Second)
		d.report.after(func() { t.Error("another turn") })
	}
	l.Run()
	require.Equal(t, written, c.written)
	require.NoError(t, l.Err())
}

// crashing is the environment variable that makes the test below the process that
// is to crash.
const crashing = "FAILAWARE_TEST_CRASH"

func TestAPanicInACallersTurnEndsTheProcess(t *testing.T) {
	if os.Getenv(crashing) != "" {
		l, _ := newTestLoop(t)
		l.driver.report.after(func() { panic("broken") })
		func() {
			defer func() { _ = recover() }() // as the server of the API does
			l.driver.tryTurn()
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
	require.Contains(t, string(out), "tryturn_test.go", "where it happened")
}
