package loop

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// lateCallersAreLeft has a caller give up after the loop has taken its command, and before it comes
// to it.
func lateCallersAreLeft(t testing.TB) {
	l, _ := newTestLoop(t)
	gaveUp := errors.New("gave up")
	ctx, cancel := context.WithCancelCause(t.Context())
	ran, failed := false, make(chan error)
	go func() {
		failed <- inLoopErr(ctx, l, func(_ *driver, reply func(error)) { ran = true; reply(nil) })
	}()
	for !l.commands.Pending() {
	}
	taken := l.commands.Take()
	cancel(gaveUp)
	require.ErrorIs(t, <-failed, gaveUp)
	for _, c := range taken {
		c.run(l.driver)
	}
	require.False(t, ran, "what is done has failed for its caller, who may do another thing elsewhere")
}

func TestLateCallersAreLeft(t *testing.T) { lateCallersAreLeft(t) }

// wakingConn is a connection whose loop takes its turn as soon as it is woken.
type wakingConn struct {
	*fakeConn
	woken func()
}

func (c *wakingConn) Wake() { c.woken() }

// What the loop has done in its last turn has succeeded, though the loop is over.
func TestTheLastTurnAnswersItsCallers(t *testing.T) {
	for range 20 { // a select takes any channel that is ready
		l, c := newTestLoop(t)
		l.cfg.Conn = &wakingConn{c, func() {
			step(l, c)
			close(l.done)
		}}
		require.NoError(t, inLoopErr(t.Context(), l, func(_ *driver, reply func(error)) { reply(nil) }))
	}
}
