package replica

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// standbyLetsGo has a standby make its snapshot before or after the receiver has that of the source.
// It keeps it no longer than the source does. If it has encoded the state differently, it does not
// know what the receiver has.
func standbyLetsGo(t testing.TB) {
	for _, late := range []bool{false, true} {
		for _, same := range []bool{true, false} {
			w := newWorld(3, Config{})
			w.install(0, 1)
			state := strings.Repeat("a", 1000)
			w.op(0, state)
			standby := w.nodes[1]
			standby.lazy = true
			w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk && !late }
			w.install(0, 1, 2)
			require.True(t, standby.r.streams[0].standby)
			require.NotEmpty(t, standby.asked)
			if !same {
				standby.states[0] = strings.ToUpper(state)
			}
			if !late {
				w.answer(1)
				require.Len(t, standby.r.held, 1, "the receiver has nothing yet")
				w.hold = nil
				w.perform(2, w.nodes[2].r.turn(w.now, nil, func() {
					s := w.nodes[0].r.streams[0]
					w.nodes[2].r.broadcast(unordered, message{kind: kindGot, name: s.name, digest: s.from.digest, rewind: true})
				}))
			}
			w.run(100 * time.Millisecond)
			all(t, w, state, 0, 2)
			w.answer(1)
			require.Empty(t, w.nodes[0].r.held)
			require.Equal(t, same, len(standby.r.held) == 0, "late %v, same %v", late, same)
			w.install(0, 1, 2)
			require.Empty(t, standby.r.held)
		}
	}
}

func TestAStandbyLetsGoOfItsSnapshot(t *testing.T) { standbyLetsGo(t) }
