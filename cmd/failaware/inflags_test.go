package main

import (
	"bytes"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
)

// The log names flags, but not in the texts of events, which have the names of nodes.
func TestTheLogNamesFlags(t *testing.T) {
	var b bytes.Buffer
	l := flagLogger{hclog.New(&hclog.LoggerOptions{Output: &b, DisableTime: true}), source{}}.Named("n")
	l.Warn("MaxPacket must be the same at all nodes", "packets", 3)
	l.Log(hclog.Warn, "node 2 (Quorum) was restarted", "event", "peer-restarted")
	l.Info("MaxPacket is as it was")
	require.Equal(t, "[WARN]  n: --max-packet must be the same at all nodes: packets=3\n[WARN]  n: node 2 (Quorum) was restarted: event=peer-restarted\n"+
		"[INFO]  n: MaxPacket is as it was\n", b.String())
}
