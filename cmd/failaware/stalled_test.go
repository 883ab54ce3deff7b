package main

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
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

// Such a node does not warn that it is alone.
func TestAStalledLoopIsNotAlone(t *testing.T) {
	join := []failaware.JoinStatus{{Source: "192.0.2.1:7001"}}
	for age, want := range map[int]string{-1: "the loop takes no turns: it waits for a disk or a processor", 0: "this node is alone"} {
		var log strings.Builder
		r := &nodeRun{log: hclog.New(&hclog.LoggerOptions{Output: &log})}
		s := failaware.Status{Age: time.Duration(age), Join: join}
		new(peerWatch).look(r, &s, time.Now())
		r.warnOf(&s, map[saying]bool{})
		require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
		require.Contains(t, log.String(), want)
	}
}
