package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

func TestConfigCheckPrintsEveryBound(t *testing.T) {
	want, err := failaware.Local().Validate()
	require.NoError(t, err)
	code, out, stderr := invoke("config", "check", "--id", "7", "--preset", "local", "-o", "json")
	require.Zero(t, code, stderr)
	var g guarantees
	require.NoError(t, json.Unmarshal([]byte(out), &g))
	require.Equal(t, []int64{int64(want.Ready), int64(want.Notice), int64(want.Depose), int64(want.Elect), int64(want.View), int64(want.Rejoin)},
		[]int64{g.ReadyNS, g.NoticeNS, g.DeposeNS, g.ElectNS, g.ViewNS, g.RejoinNS})
	require.Equal(t, int64(failaware.Local().LeastLockTime()), g.LeastLockTimeNS)
	require.Equal(t, int64(failaware.Local().LeastExpires()), g.LeastExpiresNS)
}

func TestTheEnvironmentNamesFileAndPeers(t *testing.T) {
	t.Setenv("FAILAWARE_CONFIG", writeFile(t, "id: 1\n"))
	t.Setenv("FAILAWARE_PEERS", "2=127.0.0.1:7002, 127.0.0.1:7003")
	c, _, err := loadConfig("", source{})
	require.NoError(t, err)
	require.EqualValues(t, 1, c.ID)
	require.Equal(t, []failaware.Peer{{ID: 2, Addr: "127.0.0.1:7002"}, {Addr: "127.0.0.1:7003"}}, c.Peers)
}

// A unit of systemd with a StateDirectory needs no setting, and a setting has precedence.
func TestTheStateDirectoryOfAUnit(t *testing.T) {
	for env, want := range map[string]string{"/var/lib/a": "/var/lib/a", "/var/lib/a:/var/lib/b": "/var/lib/a", "": ""} {
		t.Setenv("STATE_DIRECTORY", env)
		c, _, err := loadConfig(writeFile(t, "id: 1\n"), source{})
		require.NoError(t, err)
		require.Equal(t, want, c.StateDir)
		c, _, err = loadConfig(writeFile(t, "id: 1\nstate_dir: /srv/state\n"), source{})
		require.NoError(t, err)
		require.Equal(t, "/srv/state", c.StateDir)
	}
}

func TestExampleIsSound(t *testing.T) {
	const path = "../../examples/node.yaml"
	code, _, err := invoke("config", "check", path)
	require.Zero(t, code, err)

	// It shows every setting with its default.
	from, problem := readConfigFile(path)
	require.NoError(t, problem)
	for _, s := range settings {
		require.Contains(t, from, s.key)
	}
	c, _, problem := loadConfig(path, source{})
	require.NoError(t, problem)
	require.Equal(t, failaware.LAN(), c.Timing)
	require.Equal(t, failaware.Config{}.WithDefaults().Clock, c.Clock)
	require.Equal(t, failaware.DefaultMaxPeers, c.MaxPeers)
	require.Equal(t, failaware.DefaultEventBuffer, c.EventBuffer)
}

// Leaving waits for locks: it may take longer than the longest lock.
func TestLeavingHasTimeForTheLocks(t *testing.T) {
	for text, more := range map[string]time.Duration{"": 5 * time.Second, "leave_timeout: 1s\n": 0} {
		c, bounds, err := loadConfig(writeFile(t, "id: 1\n"+text), source{})
		require.NoError(t, err)
		if more == 0 {
			require.Equal(t, time.Second, c.leaveTimeout)
		} else {
			require.Equal(t, bounds.Depose+more, c.leaveTimeout)
		}
	}
}

// A value can be named by an anchor, and used again by an alias.
func TestAliasesAreTheValuesTheyName(t *testing.T) {
	c, _, err := loadConfig(writeFile(t, "id: 1\ngroup: &here colours\nname: *here\n"), source{})
	require.NoError(t, err)
	require.Equal(t, "colours", c.Group)
	require.Equal(t, c.Group, c.Name)
}

func TestFilesAreLimited(t *testing.T) {
	path := writeFile(t, "")
	require.NoError(t, os.Truncate(path, maxConfigFile+1))
	code, _, err := invoke("config", "check", path)
	require.Equal(t, 2, code)
	require.Contains(t, err, "larger than")
}

// Each warning has its own reason, and settings without one have none.
func TestWarningsOfSettings(t *testing.T) {
	dir := []string{"--state-dir", "/nonexistent"}
	for _, c := range []struct {
		args []string
		want []string // beginnings of the warnings
	}{
		{dir, nil},
		{nil, []string{"without --state-dir"}},
		{append(dir, "--mode", "strict"), []string{"in strict mode"}},
		{append(dir, "--insecure"), []string{"packets are neither authenticated nor secret"}},
		{append(dir, "--max-drift-ppb", "300000"), []string{"--max-slew-ppb"}},
		{[]string{"--mode", "strict", "--insecure"}, []string{"in strict mode", "without --state-dir", "packets are neither"}},
	} {
		code, out, stderr := invoke(append([]string{"config", "check", "--id", "7", "-o", "json"}, c.args...)...)
		require.Zero(t, code, stderr)
		var g guarantees
		require.NoError(t, json.Unmarshal([]byte(out), &g))
		require.Len(t, g.Warnings, len(c.want), "%q: %q", c.args, g.Warnings)
		for i, w := range c.want {
			require.True(t, strings.HasPrefix(g.Warnings[i], w), "%q: %q", c.args, g.Warnings)
		}
	}
}

// The kind of a store alone says whether its messages need a quorum.
func TestStoresSayWhetherTheyNeedAQuorum(t *testing.T) {
	t.Setenv("FAILAWARE_ID", "1")
	t.Setenv("FAILAWARE_QUORUM", "majority:1")
	for kind, needs := range map[string]bool{"linearizable": true, "partitionable": false} {
		t.Setenv("FAILAWARE_KV", kind)
		c, _, err := loadConfig("", source{})
		require.NoError(t, err)
		require.Equal(t, needs, c.Broadcast.RequireQuorum, kind)
	}
}
