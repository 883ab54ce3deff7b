package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMistypedVariablesAreNamed(t *testing.T) {
	require.Empty(t, strayVariables())
	for _, name := range []string{"FAILAWARE_LOCK_TIME", "FAILAWARE_ADDR", "FAILAWARE_SERVICE_HOST", "FAILAWARE_PORT_7000_UDP_ADDR", "OTHER"} {
		t.Setenv(name, "1")
	}
	require.Empty(t, strayVariables())
	t.Setenv("FAILAWARE_LOCKTIME", "1s")
	t.Setenv("FAILAWARE_MOTTO_OF_THE_DAY", "x")
	require.ElementsMatch(t, []string{
		"FAILAWARE_LOCKTIME in the environment sets nothing; there is FAILAWARE_LOCK_TIME",
		"FAILAWARE_MOTTO_OF_THE_DAY in the environment sets nothing"}, strayVariables())
}

func TestListsInTheEnvironment(t *testing.T) {
	t.Setenv("FAILAWARE_PEERS", "2=a:1, 3=b:2")
	t.Setenv("FAILAWARE_HANDLER", "elected=echo a, b\nlead-lost=true\n")
	got := environment()
	require.Equal(t, []raw{{"2=a:1", "FAILAWARE_PEERS"}, {"3=b:2", "FAILAWARE_PEERS"}}, got["peers"])
	require.Equal(t, []raw{{"elected=echo a, b", "FAILAWARE_HANDLER"}, {"lead-lost=true", "FAILAWARE_HANDLER"}}, got["handlers.commands"])
}
