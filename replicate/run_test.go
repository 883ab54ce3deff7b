package replicate

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// What ends a replica from outside is no failure of it. A Storage that cannot be closed is what
// Close returns, whoever was closed first.
func TestOutcomesOfTheReplica(t *testing.T) {
	broken, unclosed := errors.New("input/output error"), error(&engine.UnclosedError{})
	for _, c := range []struct {
		err           error
		closed        bool
		itself, close error
	}{
		{failaware.ErrClosed, false, nil, nil},
		{failaware.ErrClosed, true, nil, nil},
		{context.Canceled, true, nil, nil},
		{broken, false, broken, nil},
		{unclosed, false, unclosed, unclosed},
		{unclosed, true, nil, unclosed},
	} {
		itself, close := outcome(c.err, c.closed)
		require.Equal(t, c.itself, itself, "%v, %v", c.err, c.closed)
		require.Equal(t, c.close, close, "%v, %v", c.err, c.closed)
	}
}
