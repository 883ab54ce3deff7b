package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestThreeNodesAnswerAndLeave(t *testing.T) {
	dir := shortDir(t)
	nodes := startThree(t, func(id int) []string {
		return []string{"--state-dir", filepath.Join(dir, "state"), "--report", filepath.Join(dir, strconv.Itoa(id))}
	})
	n := nodes[0]
	for _, args := range []string{"leader", "synced", "view"} {
		code, out, err := n.ask("wait", args, "--timeout", clitest.LongEnough.String())
		require.Zero(t, code, out+err)
	}
	code, out, _ := n.ask("leader")
	require.Zero(t, code)
	require.Regexp(t, `^leader: node [123].*valid for `, out)
	code, out, _ = n.ask("view", "-o", "json")
	require.Zero(t, code)
	var v api.View
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	require.Len(t, v.Members, 3)
	require.True(t, v.UpToDate)
	require.Positive(t, v.ValidForNS)

	code, out, _ = n.ask("clock")
	require.Zero(t, code)
	require.Regexp(t, `^clock: \d{4}-.*±.*, internal, timeline .*; valid for `, out)
	code, out, _ = n.ask("wait", "synced", "--bound", "1s", "-o", "ndjson")
	require.Zero(t, code)
	require.Equal(t, 1, strings.Count(out, "\n"))
	code, out, _ = n.ask("wait", "view", "--members", "4", "--timeout", "100ms")
	require.Equal(t, 1, code)
	require.Empty(t, out)

	code, out, _ = n.ask("members")
	require.Zero(t, code)
	require.Regexp(t, `^NAME +ADDR +VIEW +UPTODATE +LEADER +LEASE-LEFT +CLOCK±BOUND +DELAY≤\n`, out)
	require.Equal(t, 4, strings.Count(out, "\n"))
	require.Contains(t, out, "node-1* ")
	code, out, _ = n.ask("status")
	require.Zero(t, code)
	for _, word := range []string{"node        1 (node-1) of group default", "ready", "leader ", "view ", "clock ", "{2 3} of 2 peers"} {
		require.Contains(t, out, word)
	}

	var leader *process
	for leader == nil {
		for _, n := range nodes {
			var l api.Leader
			_, out, _ = n.ask("leader", "-o", "json")
			require.NoError(t, json.Unmarshal([]byte(out), &l))
			if l.Leads {
				leader = n
			}
		}
	}
	for _, n := range nodes {
		if n != leader {
			code, _, err := n.ask("leader", "resign")
			if code != 0 { // unless it leads by now
				require.Equal(t, 1, code)
				require.Contains(t, err, "this node does not lead")
			}
		}
	}

	code, out, err := n.ask("watch", "views", "--since", "0", "-n", "3", "-o", "json")
	require.Zero(t, code, err)
	for line := range strings.Lines(out) {
		var e api.Event
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		require.Contains(t, []string{"ready", "view-installed", "view-fresh", "view-stale"}, e.Kind)
	}
	code, out, _ = n.ask("watch", "--timeout", "50ms", "-n", "100000")
	require.Equal(t, 1, code, out)

	for _, n := range nodes {
		n.stop()
		require.Zero(t, n.end(t))
		require.Regexp(t, `node [123] (gave up the lead and )?left after `, n.out.String())
		require.NoFileExists(t, n.socket)
	}
	var reports []string
	for id := range 3 {
		reports = append(reports, filepath.Join(dir, strconv.Itoa(id+1)))
	}
	audit(t, reports)
}

func TestSocketOfALiveNodeIsNotTakenAndADeadOneIsReplaced(t *testing.T) {
	n := startProcess(t, "--id", "1")
	info, err := os.Stat(n.socket)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o660), info.Mode().Perm())
	code, _, text := invoke("node", "--id", "2", "--api", n.socket)
	require.Equal(t, 2, code)
	require.Contains(t, text, "the API socket "+n.socket+": another process answers there")
	code, _, _ = n.ask("status")
	require.Zero(t, code, "the first one still answers")

	dead := filepath.Join(shortDir(t), "dead")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	p := runProcess(t, "--id", "2", "--api", dead)
	code, out, text := invoke("wait", "view", "--addr", dead, "--timeout", clitest.LongEnough.String())
	require.Zero(t, code, out+text)
	p.stop()
	require.Zero(t, p.end(t))

	file := filepath.Join(shortDir(t), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	code, _, text = invoke("node", "--id", "3", "--api", file)
	require.Equal(t, 2, code)
	require.Contains(t, text, "there is a file that is no socket")
	require.FileExists(t, file)
}

func TestWhatCannotSucceedEndsWithCode2(t *testing.T) {
	addrs := freePorts(t, 2)
	state := filepath.Join(shortDir(t), "state")
	n := startProcess(t, "--id", "1", "--listen", addrs[0], "--state-dir", state)
	friend := startProcess(t, "--id", "4", "--peer", "1="+addrs[0])
	code, _, err := friend.ask("wait", "view", "--members", "2", "--timeout", clitest.LongEnough.String())
	require.Zero(t, code, err)
	code, _, err = invoke("node", "--id", "2", "--api", "none", "--listen", addrs[0])
	require.Equal(t, 2, code)
	require.Contains(t, err, "the UDP address "+addrs[0]+" is in use")

	code, _, err = invoke("node", "--id", "1", "--api", "none", "--state-dir", state)
	require.Equal(t, 2, code)
	require.Contains(t, err, "node 1 already runs with the state directory "+state)

	other := runProcess(t, "--id", "2", "--listen", addrs[1], "--peer", "1="+addrs[0], "--fast-threshold", "11ms")
	require.Equal(t, 2, other.end(t))
	require.Contains(t, other.err.String(), "settings differ from those of node 1: FastThreshold is 11ms here and 10ms there")
	require.NotContains(t, other.err.String(), "goroutine")

	code, _, err = invoke("node", "--id", "3", "--api", "none", "--insecure", "--listen", "192.0.2.77:7000")
	require.Equal(t, 2, code)
	require.Contains(t, err, "192.0.2.77")
	n.stop()
	require.Zero(t, n.end(t))
}

func TestSecondProcessWithAnIDStops(t *testing.T) {
	nodes := startThree(t, nil)
	_, status, _ := nodes[1].ask("status", "-o", "json")
	var s api.Status
	require.NoError(t, json.Unmarshal([]byte(status), &s))
	rival := runProcess(t, "--id", "1", "--peer", "2="+s.Address, "--peer", "3="+addressOf(t, nodes[2]))
	require.Equal(t, 2, rival.end(t))
	require.Contains(t, rival.err.String(), "node id 1 is in use by another process")
	code, _, _ := nodes[0].ask("status")
	require.Zero(t, code, "the first one goes on")
}

func addressOf(t *testing.T, p *process) string {
	t.Helper()
	var s api.Status
	_, status, _ := p.ask("status", "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(status), &s))
	return s.Address
}

func TestPeersThatCannotBeFoundAreNamed(t *testing.T) {
	n := startProcess(t, "--id", "1", "--peer", "2=nobody.invalid:7000", "--peer", "127.0.0.1:9", "--insecure", "--log-json")
	n.logged(t, "cannot find a peer")
	require.Contains(t, n.err.String(), "nobody.invalid:7000")
	n.logged(t, "a peer is not alive")
	n.logged(t, "it is silent")
	_, out, _ := n.ask("members")
	require.Contains(t, out, "unresolved")
	_, out, _ = n.ask("status")
	require.Contains(t, out, "problem")
}

func TestAPIOverTCPNeedsTheToken(t *testing.T) {
	token := filepath.Join(shortDir(t), "token")
	p := runProcess(t, "--id", "1", "--api", "127.0.0.1:0", "--api-token", token, "-o", "json")
	var s started
	require.Eventually(t, func() bool { return json.Unmarshal([]byte(p.out.String()), &s) == nil }, clitest.LongEnough, 5*time.Millisecond)
	info, err := os.Stat(token)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	code, _, text := invoke("status", "--addr", "http://"+s.API)
	require.Equal(t, 2, code)
	require.Contains(t, text, "the token is missing or wrong")
	code, _, text = invoke("status", "--addr", "http://"+s.API, "--token-file", token)
	require.Zero(t, code, text)

	require.NoError(t, os.Chmod(token, 0o644))
	code, _, text = invoke("node", "--id", "2", "--api", "127.0.0.1:0", "--api-token", token)
	require.Equal(t, 2, code)
	require.Contains(t, text, "others than the user may read")
}

func TestLeaveByTheAPI(t *testing.T) {
	n := startProcess(t, "--id", "1")
	addr, err := api.ParseAddress(n.socket)
	require.NoError(t, err)
	require.NoError(t, api.NewClient(addr, "").Post(t.Context(), "/v1/leave"))
	require.Zero(t, n.end(t))
}
