//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// Processes are stopped, continued, killed and started again while others broadcast.
// The others continue, deliver the same messages, and lose no message that was
// delivered as Strict.
func TestBroadcastSurvivesStopsAndKills(t *testing.T) {
	g := newGroup(t, program(t), "lan", 3, "--broadcast")
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	whole := func() {
		require.Eventually(t, func() bool {
			for _, p := range g.procs {
				var v api.View
				if p.client.Get(ctx, "/v1/view", &v) != nil || !v.UpToDate || len(v.Members) != 3 {
					return false
				}
			}
			return true
		}, patience, 10*time.Millisecond)
	}
	whole()
	third := func() *proc { return g.procs[2] }
	options := url.Values{"order": {"total"}, "atomicity": {"strict"}, "wait": {"true"}}
	delivered := map[string]string{} // the view of each delivery
	send := func(count int) {
		for i := range count {
			s, err := g.procs[i%2].client.Broadcast(ctx, fmt.Appendf(nil, "message %d", i), options)
			if u := (*api.StatusError)(nil); errors.As(err, &u) && u.Code == http.StatusGatewayTimeout {
				continue // the outcome is unknown
			}
			require.NoError(t, err)
			require.True(t, s.Delivered)
			if !s.Transitional {
				delivered[s.ID] = s.View
			}
		}
	}
	send(100)
	third().signal(t, syscall.SIGSTOP)
	send(100)
	third().signal(t, syscall.SIGCONT)
	send(100)
	whole()
	g.kill(third())
	send(100)
	g.start(3)
	send(100)
	whole()
	last, err := g.procs[2].client.Broadcast(ctx, []byte("last"), options)
	require.NoError(t, err)

	var streams [2]map[viewStep][]string
	for i, p := range g.procs[:2] {
		streams[i] = streamOf(ctx, t, i+1, p, last.ID, delivered)
	}
	together := 0
	for s, messages := range streams[0] {
		if other, ok := streams[1][s]; ok {
			require.Equal(t, messages, other, "%v", s)
			together++
		}
	}
	require.GreaterOrEqual(t, together, 4, "views with the third node and without it, twice")
	require.Greater(t, len(delivered), 250)
}

// A viewStep is the step of a node from one view to the next.
type viewStep struct{ from, to string }

// streamOf reads the deliveries of a node up to the message last, and returns the messages
// that it delivered before each of its steps. It requires that the node lost none of
// the messages delivered in a view that it was in; delivered maps them to their views.
func streamOf(ctx context.Context, t *testing.T, node int, p *proc, last string, delivered map[string]string) map[viewStep][]string {
	t.Helper()
	stream := map[viewStep][]string{}
	seen := map[string]bool{}
	been := map[string]bool{}
	view, messages := "", []string(nil)
	enough := errors.New("enough")
	err := p.client.Deliveries(ctx, &api.Resume{Last: "0"}, true, nil, func(d api.Delivery) error {
		switch d.Kind {
		case "missed", "new-incarnation":
			return fmt.Errorf("node %d: %s", d.Node, d.Kind)
		case "view":
			stream[viewStep{view, d.View}] = messages
			view, messages = d.View, nil
			been[view] = true
		case "message":
			require.False(t, seen[d.Message], "twice")
			seen[d.Message] = true
			messages = append(messages, d.Message)
			if d.Message == last {
				return enough
			}
		}
		return nil
	})
	require.Equal(t, enough, err)
	for id, of := range delivered {
		if been[of] { // a busy machine may have parted the two
			require.True(t, seen[id], "node %d lost %s", node, id)
		}
	}
	return stream
}
