package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An operation of the store at one of three nodes is one trace: submitted and sent there,
// ordered and applied at each node, one instant after the other.
func TestOneOperationIsOneTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	const count = 3
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bridge := build(t, ".", ".", filepath.Join(dir, "failaware-otel"))
	program := build(t, "../..", "./cmd/failaware", filepath.Join(dir, "failaware"))
	sockets, _ := startNodes(t, dir, program, count, "--kv", "partitionable", "--kv-trace")
	r := newReceiver(t)
	for _, socket := range sockets {
		start(t, bridge, "-node", socket, "-otlp", r.URL)
	}
	const spans = 2 + 2*count
	whole := func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		for id, list := range r.spans {
			if len(list) == spans {
				return id
			}
		}
		return ""
	}
	for end := time.Now().Add(longEnough); whole() == ""; time.Sleep(100 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "no operation is told by all bridges")
		_ = exec.Command(program, "--addr", sockets[1], "kv", "put", "key", "value").Run()
	}

	type instants struct{ began, ended uint64 }
	seen := map[string]map[int64]instants{}
	for _, s := range r.of(whole()) {
		node := int64(0)
		for _, a := range s.Attributes {
			if a.Key == "failaware.node" {
				node = a.Value.GetIntValue()
			}
		}
		if seen[s.Name] == nil {
			seen[s.Name] = map[int64]instants{}
		}
		require.Equal(t, s.Name == "operation", len(s.ParentSpanId) == 0)
		seen[s.Name][node] = instants{s.StartTimeUnixNano, s.EndTimeUnixNano}
	}
	submit := seen["submit"][2]
	require.Equal(t, map[int64]instants{2: {submit.began, seen["apply"][2].ended}}, seen["operation"])
	require.Len(t, seen["submit"], 1)
	for node := int64(1); node <= count; node++ {
		order, apply := seen["order"][node], seen["apply"][node]
		require.Equal(t, submit.ended, order.began, "it was sent once")
		require.LessOrEqual(t, order.began, order.ended)
		require.Equal(t, order.ended, apply.began)
		require.LessOrEqual(t, apply.began, apply.ended)
	}
}
