package main

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestSimBroadcastIsPartOfTheReplay(t *testing.T) {
	f := simFlags{}
	f.modeFlags.register(pflag.NewFlagSet("", pflag.ContinueOnError))
	require.NotContains(t, f.again(1), "broadcast")
	f.broadcast = true
	require.Contains(t, f.again(1), " --broadcast")
}
