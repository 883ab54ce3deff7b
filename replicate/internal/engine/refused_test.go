package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
)

// refusing is a group whose view has no quorum any more when the first message comes, and then
// has one again.
type refusing struct {
	*fakeMember
	sent chan string
	done bool
}

func (r *refusing) Broadcast(_ context.Context, payload []byte, _ broadcast.Options) error {
	if !r.done {
		r.done = true
		return broadcast.ErrNoQuorum
	}
	r.sent <- string(payload)
	return nil
}

// sendsOn has a view lose its quorum before a message of its replica leaves. The message says
// nothing to later views, and those that come after it are sent.
func sendsOn(t testing.TB) {
	ctx, cancel := context.WithCancel(t.Context())
	r := &refusing{sent: make(chan string, 1)}
	i, q := &incarnation{Engine: &Engine{group: r}}, newQueue[replica.Effect](0, nil)
	q.put(replica.Effect{Payload: []byte("of the view before")})
	q.put(replica.Effect{Payload: []byte("of this one")})
	ended := make(chan error, 1)
	go func() { ended <- i.send(ctx, q) }()
	select {
	case payload := <-r.sent:
		cancel()
		require.Equal(t, "of this one", payload)
		require.ErrorIs(t, <-ended, context.Canceled)
	case err := <-ended:
		cancel()
		require.NoError(t, err, "the replica ends for lack of a quorum")
	}
}

func TestAMessageWithoutAQuorumEndsNothing(t *testing.T) { sendsOn(t) }
