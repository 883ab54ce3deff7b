package store

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/replicate"
)

// rung reports whether f wakes who waits for a change.
func rung(a *application, f func()) bool {
	next := a.bell.wait()
	f()
	select {
	case <-next:
		return true
	default:
		return false
	}
}

// restoreRings reports whether a state that replaces another wakes its watchers.
func restoreRings(t testing.TB, state []byte) bool {
	a := &application{state: kv.New(kv.Partitionable)}
	return rung(a, func() { require.NoError(t, a.Restore(bytes.NewReader(state))) })
}

// Whatever changes a state wakes its watchers.
func TestWatchersHearOfEachChange(t *testing.T) {
	put := kv.Command{Op: kv.Put, Dot: kv.Dot{Writer: 1, Number: 1}, Key: "a"}
	a := &application{state: kv.New(kv.Partitionable)}
	require.True(t, rung(a, func() { a.Apply(replicate.Operation{Command: put.Encode()}) }))
	var state bytes.Buffer
	require.NoError(t, a.Snapshot(&state))
	require.True(t, restoreRings(t, state.Bytes()))
	c := &application{state: kv.New(kv.Partitionable)}
	require.True(t, rung(c, func() {
		require.NoError(t, c.Merge([]replicate.Branch{{State: bytes.NewReader(state.Bytes())}, {State: bytes.NewReader(state.Bytes())}}))
	}))
	require.NotNil(t, c.state.Get("a"))
	require.Error(t, c.Merge([]replicate.Branch{{State: bytes.NewReader(state.Bytes()[1:])}}))
}
