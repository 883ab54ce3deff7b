package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/timed"
)

// What an operator reads about a full disk has one line, and no names of the library.
func TestAFullDiskIsToldInOneLine(t *testing.T) {
	require.Empty(t, roomText(nil))
	full := errors.New("write kv/spool: no space left on device")
	require.Equal(t, full.Error(), roomText(errors.Join(full, errors.New("close kv/spool: no space left on device"))))
	require.Equal(t, full.Error(), roomText(fmt.Errorf("replicate: Spool: %w", full)))
}

// Each situation in which a store takes no commands is told with what to do.
func TestEachSituationIsExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startGroup(t, kv.Partitionable, 1, 1)
		defer g.close()
		for situation, text := range map[replicate.Situation]string{
			replicate.NoView:       "this node is in no view yet",
			replicate.NoQuorum:     "the view of nodes {1} holds no quorum of ",
			replicate.Reporting:    "not all nodes of {1} have reported their state; all must run with --kv",
			replicate.Mixed:        "some of nodes {1} have --kv-dir, and others have not, as their logs name: set it at all nodes, or at none",
			replicate.Changing:     "the quorum system changes, and not all of nodes {1} are in the next epoch",
			replicate.Recovering:   "too few of nodes {1} remember the state, and nodes {2 3} may know more: start them, and if no node has a state, a new one begins then",
			replicate.Merging:      "this node cannot answer: " + replicate.Merging.String(),
			replicate.Transferring: "this node cannot answer: " + replicate.Transferring.String(),
			replicate.Working:      "the view changes or too much waits",
		} {
			err := g.stores[0].explain(&replicate.NotAcceptingError{Situation: situation, Absent: timed.SetOf(2, 3), Err: context.Canceled})
			require.ErrorContains(t, err, text)
			require.ErrorContains(t, err, " (context canceled)")
			require.ErrorIs(t, err, context.Canceled)
		}
		err := g.stores[0].explain(&replicate.NotAcceptingError{Situation: replicate.Working, Err: replicate.ErrStateReplaced})
		require.EqualError(t, err, "the state was replaced by that of other nodes while it was read: try again")
	})
}
