package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
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
