package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// takesThePresentSource has a view end just before a merger, and with it the source of one of the
// states. An application may encode that state in another way at the next source, so what came
// before counts only once that one says that its bytes are the same.
func takesThePresentSource(t testing.TB) {
	w := newWorld(3, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.install(2)
	w.op(2, "b")
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindReady }
	w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	m := w.nodes[2].r
	require.True(t, m.readySent && len(m.incoming) == 1 && m.incoming[0].whole())
	w.hold = nil
	w.nodes[1].lazy = true
	w.install(1, 2)
	w.run(10 * time.Millisecond)
	require.Equal(t, merging, m.phase)
	require.False(t, m.readySent, "the source has not said anything yet")
	w.answer(1)
	w.run(10 * time.Millisecond)
	all(t, w, "(a|b|)", 1, 2)
}

func TestAMergerTakesWhatThePresentSourceHas(t *testing.T) { takesThePresentSource(t) }
