package ntpserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/ntptest"
)

// listenFor starts a server for real clients. It prefers the port of NTP, because
// some clients support no other.
func listenFor(t *testing.T, external bool) *Server {
	t.Helper()
	s, err := Listen(fmt.Sprintf("127.0.0.123:%d", ntptest.Port), fake(time.Millisecond, external), Options{})
	if err != nil {
		return listen(t, fake(time.Millisecond, external), Options{})
	}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestClientsUseExternalTime(t *testing.T) {
	for name, ask := range ntptest.Clients {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, listenFor(t, true).Addr())
			require.NoError(t, err)
			require.InDelta(t, offset.Seconds(), got.Seconds(), 0.1)
		})
	}
}

func TestClientsRefuseUnsynchronizedServer(t *testing.T) {
	for name, ask := range ntptest.Clients {
		t.Run(name, func(t *testing.T) {
			s := listenFor(t, false)
			_, err := ask(t, s.Addr())
			require.Error(t, err)
			require.Positive(t, s.Stats().Unsynchronized, err)
		})
	}
}
