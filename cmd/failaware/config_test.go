package main

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

func TestErrorsOfAFileNameFileLineAndKey(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"id: 1\nlock_time: 3s\n", ":2: lock_time: there is no such setting; there is timing.lock_time"},
		{"id: 1\ntiming:\n  locktime: 3s\n", ":3: timing.locktime: there is no such setting; there is timing.lock_time"},
		{"id: 1\nbogus: 3s\n", ":2: bogus: there is no such setting"},
		{"id: 1\nname: a\nid: 2\n", ":3: id: it is set twice, first in line 1"},
		{"id: 1\ntiming: {lock_time: 90ms, lock_time: 80ms}\n", ":2: timing.lock_time: it is set twice"},
		{"id: one\n", `:1: id: node id "one" is not a number`},
		{"id: [1]\n", ":1: id: one value (1-255) is needed"},
		{"id:\n", ":1: id: it has no value"},
		{"id: 1\ninsecure: 1\n", `:2: insecure: "1" is neither true nor false`},
		{"id: 1\ntiming:\n  lock_time: 80\n", `:3: timing.lock_time: "80" is not a duration with a unit`},
		{"id: 1\ntiming:\n  lock_time: soon\n", `:3: timing.lock_time: "soon" is not a duration`},
		{"id: 1\ntiming:\n  lock_time: 20ms\n", ":3: timing.lock_time: LockTime: 20ms is too short"},
		{"id: 1\ntiming: fast\n", ":2: timing: keys with values are needed"},
		{"- 1\n", ":1: the file: keys with values are needed"},
		{"id: 1\npeers: 127.0.0.1:1\n", ":2: peers: a list of ID=HOST:PORT is needed"},
		{"id: 1\npeers:\n- 2=127.0.0.1:1\n- 3=nonsense\n", ":4: peers[1]: Peers: "},
		{"id: 1\npeers:\n- {id: 2}\n", ":3: peers[0]: one value"},
		{"id: 1\nclock:\n  max_deviation: -1ms\n", ":3: clock.max_deviation: -1ms is not above 0"},
		{"id: 1\napi: 127.0.0.1:80\n", ":2: api: all users of the machine"},
		{"id: 1\n---\nid: 2\n", "there is more than one document"},
		{"id: 1\n  name: x\n", "line 2"},
		{"id: \"1\n", "found unexpected end"},
	} {
		path := writeFile(t, c.content)
		code, _, err := invoke("config", "check", path)
		require.Equal(t, 2, code, c.content)
		require.Contains(t, err, path, c.content)
		require.Contains(t, err, c.want, c.content)
	}
}

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

	code, out, _ = invoke("config", "check", "--id", "7", "--mode", "strict")
	require.Zero(t, code)
	for _, word := range []string{"ready", "notice", "depose", "elect", "view", "rejoin", "least lock_time", "least expires", "in strict mode the crash of a follower"} {
		require.Contains(t, out, word)
	}
	_, out, _ = invoke("config", "check", "--id", "7", "--state-dir", "/nonexistent")
	require.NotContains(t, out, "warning")
}

func TestFlagsBeforeEnvironmentBeforeFile(t *testing.T) {
	path := writeFile(t, "id: 1\npreset: wan\ntiming:\n  lock_time: 2s\n  max_lock_time: 4s\n  expires: 2s\n")
	timing := func(args ...string) (lock, most, expires, period time.Duration) {
		code, out, err := invoke(append([]string{"config", "check", path, "-o", "ndjson"}, args...)...)
		require.Zero(t, code, err)
		var g guarantees
		require.NoError(t, json.Unmarshal([]byte(out), &g))
		return time.Duration(g.Timing.LockTimeNS), time.Duration(g.Timing.MaxLockTimeNS),
			time.Duration(g.Timing.ExpiresNS), time.Duration(g.Timing.ElectionPeriodNS)
	}
	t.Setenv("FAILAWARE_LOCK_TIME", "3s")
	t.Setenv("FAILAWARE_EXPIRES", "3s")
	lock, most, expires, period := timing("--expires", "5s")
	require.Equal(t, []time.Duration{3 * time.Second, 4 * time.Second, 5 * time.Second, failaware.WAN().ElectionPeriod},
		[]time.Duration{lock, most, expires, period})
	_, _, _, period = timing("--preset", "lan")
	require.Equal(t, failaware.LAN().ElectionPeriod, period)

	t.Setenv("FAILAWARE_CONFIG", path)
	t.Setenv("FAILAWARE_PEERS", "2=127.0.0.1:7002, 127.0.0.1:7003")
	c, _, err := loadConfig("", source{})
	require.NoError(t, err)
	require.Equal(t, []failaware.Peer{{ID: 2, Addr: "127.0.0.1:7002"}, {Addr: "127.0.0.1:7003"}}, c.Peers)
}

func TestExampleIsSound(t *testing.T) {
	const path = "../../examples/node.yaml"
	code, _, err := invoke("config", "check", path)
	require.Zero(t, code, err)

	// It shows every setting, and says the defaults.
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

func TestFilesAreLimited(t *testing.T) {
	path := writeFile(t, "")
	require.NoError(t, os.Truncate(path, maxConfigFile+1))
	code, _, err := invoke("config", "check", path)
	require.Equal(t, 2, code)
	require.Contains(t, err, "larger than")
}
