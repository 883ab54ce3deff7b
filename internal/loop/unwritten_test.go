package loop

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/loop/deliveryqueue"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// inEpoch1 returns a loop that is ready, with a state directory, in an epoch with two other
// voters, of which it lists one.
func inEpoch1(t testing.TB, dir string) (l *Loop, c *fakeConn, e *epoch.State) {
	state := stateOf(t, dir, timed.LAN().MaxLockTime)
	e = &epoch.State{Epoch: 1, System: "majority:1,2,3"}
	require.NoError(t, state.WriteEpoch(e))
	l, c = newLoop(func(cfg *Config) {
		cfg.State, cfg.Stack.Epochs = state, e
		cfg.Peers = peers.NewResolver(peers.Options{Self: 1, Changed: func() {}}, []peers.Peer{{ID: 3, Addr: "127.0.0.1:9"}})
	})
	untilReady(l, c)
	return l, c, e
}

// untilReady has the loop take turns until its incarnation is ready.
func untilReady(l *Loop, c *fakeConn) {
	for l.driver.stack == nil || !l.Snapshot().Ready {
		step(l, c)
	}
}

// After a failed write nothing of the turn leaves the node: no state, no packet, no
// report, and no result of a command.
func silentAfterAFailedWrite(t testing.TB) {
	dir := t.TempDir()
	l, c, before := inEpoch1(t, dir)
	d := l.driver
	require.NotZero(t, c.written)
	require.NoError(t, os.RemoveAll(dir))
	written, published, reports := c.written, l.Snapshot(), l.cfg.Sink.(*recorder)
	told := len(reports.events)
	l.do(func(d *driver) {
		d.forceQuorum("majority:1,3", timed.SetOf(2), func(error) { t.Error("the caller was answered") })
	})
	c.advance(time.Second) // a lot is due
	d.turn(nil, l.cfg.Clock.Read())
	require.True(t, d.life.Over())
	require.ErrorIs(t, d.failure, os.ErrNotExist)
	require.Same(t, published, l.Snapshot())
	waits := d.msgs.deliveries.Backlog()
	d.msgs.stage(deliveryqueue.Item{Kind: deliveryqueue.Lost})
	d.commitMessages()
	require.Equal(t, waits, d.msgs.deliveries.Backlog(), "the application hears no more")
	d.mu.Lock()
	d.finish()
	require.Equal(t, before, l.Snapshot().Epoch)
	require.Equal(t, written, c.written)
	require.Equal(t, told, len(reports.events))
	require.ErrorIs(t, l.Err(), os.ErrNotExist)
}

func TestNothingIsSaidAfterAFailedWrite(t *testing.T) { silentAfterAFailedWrite(t) }

// heldUnwritten asks a node that leads for a hold, in a turn whose write fails, and returns what
// the caller hears before the end of the node: nothing, or the answer. It runs in virtual time.
func heldUnwritten(t *testing.T) (answers []error) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l, c, _ := inEpoch1(t, dir)
		for !l.Snapshot().Phase.Leads {
			step(l, c)
		}
		require.NoError(t, os.RemoveAll(dir))
		l.do(func(d *driver) { d.forceQuorum("majority:1,3", timed.SetOf(2), func(error) {}) })
		answer := make(chan error, 1)
		go func() {
			_, err := l.Hold(t.Context(), false)
			answer <- err
		}()
		synctest.Wait()
		c.advance(time.Second) // no vote binds the node
		l.driver.turn(nil, l.cfg.Clock.Read())
		synctest.Wait()
		require.Error(t, l.driver.failure)
		select {
		case err := <-answer:
			answers = append(answers, err)
		default:
		}
		l.driver.mu.Lock()
		l.driver.finish()
	})
	return answers
}

func TestNoHoldIsGivenUnwritten(t *testing.T) { require.Empty(t, heldUnwritten(t)) }

// What a node knows of its epoch binds it after a restart within its process too.
func epochOutlivesIncarnations(t testing.TB) {
	l, c, _ := inEpoch1(t, t.TempDir())
	d := l.driver
	l.do(func(d *driver) { d.forceQuorum("majority:1,3", timed.SetOf(2), func(error) {}) })
	for l.Snapshot().Epoch.Phase != epoch.Wedged {
		step(l, c)
	}
	wedged := *l.Snapshot().Epoch
	d.clock.era--
	d.turn(nil, l.cfg.Clock.Read())
	require.Equal(t, wedged, *l.Snapshot().Epoch)
	untilReady(l, c)
	require.Equal(t, wedged, *l.Snapshot().Epoch)
}

func TestTheEpochOutlivesIncarnations(t *testing.T) { epochOutlivesIncarnations(t) }

// A change whose reports would fit into no packet does not begin: no node would hear of it.
func TestAChangeFitsIntoAPacket(t *testing.T) {
	l, c, before := inEpoch1(t, t.TempDir())
	large := "majority:1"
	for id := 2; id < 255; id++ {
		large += fmt.Sprintf(",%d", id)
	}
	for what, ask := range map[string]func(d *driver, reply func(error)){
		"force":   func(d *driver, reply func(error)) { d.forceQuorum(large, timed.SetOf(2), reply) },
		"propose": func(d *driver, reply func(error)) { reply(d.proposeQuorum(1, large)) },
	} {
		var got error
		l.do(func(d *driver) { ask(d, func(err error) { got = err }) })
		step(l, c)
		require.ErrorContains(t, got, "needs packets of", what)
		require.Equal(t, before, l.Snapshot().Epoch, what)
	}
}
