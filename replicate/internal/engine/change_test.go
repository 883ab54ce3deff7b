package engine

import (
	"context"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// replacedOfItsEpoch asks whether the quorum system may be replaced. The answer of an incarnation
// counts for its own epoch: it returns those answers that say otherwise.
func replacedOfItsEpoch(t *testing.T) (wrong []string) {
	synctest.Test(t, func(t *testing.T) {
		one, err := quorum.Majority(timed.SetOf(1))
		require.NoError(t, err)
		two, err := quorum.Majority(timed.SetOf(1, 2))
		require.NoError(t, err)
		h := &hub{order: Incarnation{Quorum: one, Epoch: 3}}
		m := join(t, h, 1)
		require.ErrorIs(t, m.MayReplace(t.Context(), 3, one), failaware.ErrStateNotReady, "no view")
		h.view(m.group)
		synctest.Wait()
		require.NoError(t, m.MayReplace(t.Context(), 3, one))
		require.ErrorIs(t, m.MayReplace(t.Context(), 3, two), failaware.ErrStateNotReady, "node 2 is not there")
		if m.MayReplace(t.Context(), 4, one) == nil {
			wrong = append(wrong, "another epoch")
		}
	})
	return wrong
}

func TestAStateIsOfItsEpoch(t *testing.T) { require.Empty(t, replacedOfItsEpoch(t)) }

// Nobody waits for the answer of an engine that has ended.
func TestAnEngineThatHasEndedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, err := quorum.Majority(timed.SetOf(1))
		require.NoError(t, err)
		m := join(t, new(hub), 1)
		m.group.end(io.ErrUnexpectedEOF)
		require.ErrorIs(t, <-m.err, io.ErrUnexpectedEOF)
		require.ErrorIs(t, m.MayReplace(t.Context(), 1, one), failaware.ErrClosed)
	})
}

func TestTheCauseOfAContextIsTold(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(io.ErrUnexpectedEOF)
	require.Equal(t, io.ErrUnexpectedEOF, idle(t).MayReplace(ctx, 1, nil))
}
