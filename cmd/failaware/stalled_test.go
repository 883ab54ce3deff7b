package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// A node whose loop does not answer, as while it waits for a disk, knows nothing of its peers,
// and does not call them silent.
func TestAStalledLoopIsNamed(t *testing.T) {
	members := []api.MemberInfo{{Node: 1, Name: "node-1", Self: true}, {Node: 2, Name: "node-2", InView: true}}
	var table, status strings.Builder
	require.NoError(t, writeMembers(&table, &api.Members{AgeNS: -1, Members: members}))
	require.Regexp(t, `(?m)^node-2 .* unknown$`, table.String())
	require.NotContains(t, table.String(), "silent")

	require.NoError(t, writeStatus(&status, &api.Status{AgeNS: -1, Members: members}))
	require.Regexp(t, `(?m)^state +its loop does not answer: it waits for a disk or a processor, and peers are not known$`, status.String())
	for _, word := range []string{"waits until its earlier votes", "alive", "incarnation", "lateness"} {
		require.NotContains(t, status.String(), word)
	}
	status.Reset()
	require.NoError(t, writeStatus(&status, &api.Status{AgeNS: -1, Members: members, Stopped: true}))
	require.Regexp(t, `(?m)^state +stopped$`, status.String())
}
