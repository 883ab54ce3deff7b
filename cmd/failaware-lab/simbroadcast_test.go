package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestSimBroadcast(t *testing.T) {
	code, out, err := runSim("--seeds", "4", "--seconds", "5", "--broadcast")
	require.Zero(t, code, err)
	m := lastLine(t, out)
	for _, key := range []string{"broadcasts", "deliveries", "worst_delivery_ms", "bound_delivery_ms"} {
		require.NotZero(t, m[key], key)
	}
	require.Contains(t, m["sometimes"], "a delivery was transitional")
	_, out, _ = runSim("--seeds", "1", "--seconds", "1")
	require.NotContains(t, lastLine(t, out), "broadcasts")
	require.NotContains(t, lastLine(t, out)["sometimes"], "a delivery was transitional")
	f := simFlags{}
	f.modeFlags.register(pflag.NewFlagSet("", pflag.ContinueOnError))
	require.NotContains(t, f.again(1), "broadcast")
	f.broadcast = true
	require.Contains(t, f.again(1), " --broadcast")
}
