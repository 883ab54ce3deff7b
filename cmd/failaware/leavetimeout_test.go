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
