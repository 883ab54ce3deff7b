package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/internal/pause"
)

// A node that cannot leave within --leave-timeout stops as if it had crashed, and says so.
func TestANodeThatCannotLeaveInTimeStops(t *testing.T) {
	p := runProcess(t, "--id", "1", "--leave-timeout", "1ns")
	clitest.Seen(t, &p.out, "it guarantees")
	p.stop()
	require.Equal(t, 1, p.end(t))
	require.Contains(t, p.err.String(), "node 1 could not leave within 1ns and stopped as if crashed")
}

// A node that leaves already is not forgotten: who asks for that is told so. One that is to be
// forgotten is, though a signal comes before it begins to leave.
func TestANodeLeavesInOneWay(t *testing.T) {
	r := &nodeRun{leave: make(chan bool, 1)}
	begin, err := r.askedToLeave(false)
	require.NoError(t, err)
	begin()
	_, err = r.askedToLeave(true)
	require.EqualError(t, err, "the node already leaves, without being forgotten")
	begin, err = r.askedToLeave(false)
	require.NoError(t, err)
	begin()
	require.False(t, <-r.leave)

	r = &nodeRun{leave: make(chan bool, 1)}
	begin, err = r.askedToLeave(true)
	require.NoError(t, err)
	require.True(t, r.departure.begin(false), "the signal")
	begin()
	_, err = r.askedToLeave(true)
	require.NoError(t, err)
	_, err = r.askedToLeave(false)
	require.NoError(t, err)
	require.True(t, <-r.leave)
}

// A node whose loop stands, as while it waits for a disk, ends in time too.
func TestANodeThatIsStuckEndsInTime(t *testing.T) {
	gate := pause.New()
	t.Cleanup(gate.Open)
	p := runProcessWith(t, pause.With(context.Background(), gate), "--id", "1", "--kv", "partitionable", "--handler", "ready=true", "--leave-timeout", "10ms")
	clitest.Seen(t, &p.out, "it guarantees")
	gate.Shut(p.done)
	p.stop()
	require.Equal(t, 1, p.end(t))
	require.Contains(t, p.err.String(), "node 1 could not leave within 10ms and stopped as if crashed")
}

// A node that is to read its keys again reads signals soon, though its loop stands.
func TestANodeThatIsStuckReadsSignals(t *testing.T) {
	keys := filepath.Join(shortDir(t), "keys")
	code, _, stderr := invoke("keygen", keys)
	require.Zero(t, code, stderr)
	gate := pause.New()
	cfg := failaware.Config{ID: 1, KeyFile: keys}
	node, err := failaware.Start(pause.With(t.Context(), gate), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { gate.Open(); _ = node.Close() })
	var log strings.Builder
	r := &nodeRun{node: node, log: hclog.New(&hclog.LoggerOptions{Output: &log})}
	r.cfg.Config = cfg
	gate.Shut(node.Done())
	r.reloadKeys()
	require.Contains(t, log.String(), "the keys stay the same")
	require.Contains(t, log.String(), "the loop takes no turns")
}
