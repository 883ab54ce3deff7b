package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

func TestMessagesReachAllNodesInOneOrder(t *testing.T) {
	nodes := startThree(t, func(int) []string { return []string{"--broadcast", "--broadcast-max-payload", "1000"} })
	code, out, err := nodes[0].ask("broadcast", "--atomicity", "strict", "--wait", "hello")
	require.Zero(t, code, err)
	require.Regexp(t, `^1/[0-9a-f]{8}/o1 delivered in view .* at position 1\n$`, out)
	code, out, err = nodes[1].ask("broadcast", "--atomicity", "strict", "--wait", "two\nlines", "-o", "json")
	require.Zero(t, code, err)
	var s api.Sent
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Equal(t, uint64(2), s.Position)
	code, out, err = nodes[2].ask("broadcast", "--order", "unordered", "--wait", "end")
	require.Zero(t, code, err)
	require.NotContains(t, out, "position")
	for _, n := range nodes {
		code, out, err = n.ask("deliveries", "--follow", "--since", "0", "-n", "100", "--timeout", "2s")
		require.Equal(t, 1, code, "fewer than asked for")
		require.Empty(t, err)
		hello, lines := strings.Index(out, "from node 1: hello\n"), strings.Index(out, `from node 2: "two\nlines"`)
		require.Positive(t, hello)
		require.Greater(t, lines, hello)
		require.Contains(t, out, "from node 3: end\n")
		require.Contains(t, out, ": members [1 2 3]\n")
	}
	code, out, _ = nodes[0].ask("deliveries", "-o", "ndjson")
	require.Zero(t, code)
	require.Contains(t, out, `"kind":"message"`)

	code, _, err = nodes[0].ask("broadcast", strings.Repeat("x", 1001))
	require.NotZero(t, code)
	require.Contains(t, err, "too large")
	code, _, err = nodes[0].ask("broadcast", "--order", "last", "x")
	require.Equal(t, 2, code)
	require.Contains(t, err, "it is none of unordered, total, timed")
}

func TestBroadcastSettings(t *testing.T) {
	code, _, err := invoke("config", "check", "--broadcast-window", "4096")
	require.Equal(t, 2, code)
	require.Contains(t, err, "--broadcast-window: it needs --broadcast")
	code, _, err = invoke("config", "check", "--broadcast", "--broadcast-window", "1", "--broadcast-require-quorum", "1,1")
	require.Equal(t, 2, code)
	require.Contains(t, err, "--broadcast-window: Broadcast.Window: 1 is outside")
	require.Contains(t, err, "--broadcast-require-quorum: Broadcast.RequireQuorum: node 1 is there twice")
	code, _, err = invoke("config", "check", "--broadcast", "--broadcast-require-quorum", "1,x")
	require.Equal(t, 2, code)
	require.Contains(t, err, `"x"`)
	path := writeFile(t, "id: 1\nbroadcast:\n  on: true\n  packet_bytes: 1\n")
	code, _, err = invoke("config", "check", path)
	require.Equal(t, 2, code)
	require.Contains(t, err, ":4: broadcast.packet_bytes: Broadcast.PacketBytes: 1 is outside")
	code, out, err := invoke("config", "check", "--broadcast", "--broadcast-slow-after", "2s")
	require.Zero(t, code, err)
	require.Contains(t, out, "sound")
}

func TestBroadcastThatIsOffIsExplained(t *testing.T) {
	n := startProcess(t, "--id", "1")
	for _, args := range [][]string{{"broadcast", "x"}, {"deliveries"}} {
		code, _, err := n.ask(args...)
		require.NotZero(t, code)
		require.Contains(t, err, "broadcast is off")
	}
}
