package replicate_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// A command is as large as it is documented, and the error of a larger one says how large that is.
func TestTheLargestCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 4 << 10
		net := memory.New(memory.Options{})
		all := inMemory(t, net, failaware.BroadcastConfig{MaxPayload: most}, replicate.Config{}, applications(1, 0)...)
		defer closeAll(t, all)
		r := all[0].Replica
		s, err := r.OpenSession(t.Context())
		require.NoError(t, err)
		for overhead, submit := range map[int]func([]byte) error{
			replicate.OperationOverhead: func(b []byte) error { _, err := r.Submit(t.Context(), b); return err },
			replicate.SessionOverhead:   func(b []byte) error { _, err := s.Submit(t.Context(), s.Next(), b); return err },
			1:                           func(b []byte) error { _, err := r.Broadcast(t.Context(), b, failaware.BroadcastOptions{}); return err },
		} {
			require.NoError(t, submit(make([]byte, most-overhead)))
			err := submit(make([]byte, most-overhead+1))
			require.ErrorIs(t, err, failaware.ErrTooLarge)
			switch overhead {
			case replicate.OperationOverhead:
				require.ErrorContains(t, err, "the command has 4095 bytes, and with a MaxPayload of 4096 at most 4094")
			case replicate.SessionOverhead:
				require.ErrorContains(t, err, "the command has 4070 bytes, and with a MaxPayload of 4096 at most 4069")
			}
		}
		require.Equal(t, 27, replicate.SessionOverhead)
	})
}

// A read without a function is a mistake of the caller, which the panic names.
func TestReadsNeedAFunction(t *testing.T) {
	r := &replicate.Replica{}
	require.PanicsWithValue(t, "replicate: Read of a nil function", func() { r.Read(nil) })
	require.PanicsWithValue(t, "replicate: ReadLatest of a nil function", func() { _, _ = r.ReadLatest(t.Context(), nil) })
	require.PanicsWithValue(t, "replicate: ReadLeased of a nil function", func() { _, _ = r.ReadLeased(t.Context(), nil) })
}
