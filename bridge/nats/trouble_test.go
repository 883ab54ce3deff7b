package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// lines returns a log, and its lines without their times.
func lines() (log *slog.Logger, of func() []string) {
	var text bytes.Buffer
	log = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	return log, func() (all []string) {
		for line := range bytes.Lines(text.Bytes()) {
			all = append(all, string(bytes.TrimSpace(line)))
		}
		return all
	}
}

// The log has a reason once, also if the port of this end differs, then another one, and the end.
func TestTroubleIsSaidWhenItChanges(t *testing.T) {
	log, of := lines()
	x := trouble{log: log}
	x.over("it works")
	for port := range 3 {
		x.met("it fails", &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: 40000 + port}, Addr: &net.TCPAddr{Port: 4222}, Err: syscall.ECONNRESET})
	}
	for range 2 {
		x.met("it fails", errors.New("no answer"))
	}
	x.over("it works")
	x.over("it works")
	require.Equal(t, []string{`msg="it fails" error="read tcp :40000->:4222: connection reset by peer"`, `msg="it fails" error="no answer"`, `msg="it works"`}, of())
}

// However often an item or the stream is tried, the log has why, and that it was of use.
func TestAttemptsAreSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, of := lines()
		b := &bridge{js: &busy{attempts: 100}, log: log}
		require.True(t, b.publish(t.Context(), "s", "value"))
		b.js = &starting{times: 40, err: jetstream.ErrJetStreamNotEnabled}
		require.NoError(t, b.makeStream(t.Context()))
		require.Len(t, of(), 4, "%q", of())
	})
}
