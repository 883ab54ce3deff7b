package main

import (
	"net"
	"strconv"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// A server that refuses the credentials for a while, as while they are being exchanged, is
// no reason to give up the connection for ever.
func TestABridgeOutlivesRefusedCredentials(t *testing.T) {
	start := func(port int, password string) *server.Server {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, Username: "bridge", Password: password, NoLog: true, NoSigs: true})
		require.NoError(t, err)
		s.Start()
		require.True(t, s.ReadyForConnections(longEnough))
		t.Cleanup(s.Shutdown)
		return s
	}
	s := start(-1, "right")
	port := s.Addr().(*net.TCPAddr).Port
	conn, err := nats.Connect("nats://bridge:right@127.0.0.1:"+strconv.Itoa(port), new(options).natsOptions()...)
	require.NoError(t, err)
	defer conn.Close()
	s.Shutdown()
	s.WaitForShutdown()
	s = start(port, "another")
	require.Eventually(t, func() bool { // refused twice, a connection is given up by default
		v, err := s.Varz(nil)
		return err == nil && v.TotalConnections > 2
	}, longEnough, retryAfter/10, "the connection is %v", conn.Status())
	s.Shutdown()
	s.WaitForShutdown()
	start(port, "right")
	require.Eventually(t, conn.IsConnected, longEnough, retryAfter/10, "the connection is %v", conn.Status())
}
