package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestWrongUsageIsExplainedInFewLinesWithCode2(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"bogus", []string{`unknown command "bogus"`, "see 'failaware --help'"}},
		{"--bogus", []string{"unknown flag: --bogus", "see 'failaware --help'"}},
		{"status --bogus", []string{"unknown flag: --bogus", "see 'failaware status --help'"}},
		{"status extra", []string{`unknown command "extra"`, "see 'failaware status --help'"}},
		{"leader bogus", []string{`unknown command "bogus"`, "see 'failaware leader --help'"}},
		{"status -o xml", []string{"it is none of table, json, ndjson"}},
		{"status --timeout soon", []string{"--timeout", "soon"}},
		{"status --addr http://example.com:80", []string{"http://example.com:80", "not on this machine"}},
		{"status --addr https://127.0.0.1:80", []string{"is not http://HOST:PORT"}},
		{"status --addr unix:", []string{"names no socket"}},
		{"status --addr /" + strings.Repeat("x", 120), []string{"longer than 103 bytes"}},
		{"status --addr http://127.0.0.1:1 --token-file /nonexistent/token", []string{"/nonexistent/token"}},
		{"watch everything", []string{`"everything" is none of views, leader, clock, peers, broadcast, all`, "see 'failaware watch --help'"}},
		{"clock -w --every 0s", []string{"--every must be above 0"}},
		{"wait", []string{"accepts 1 arg", "see 'failaware wait --help'"}},
		{"wait rain", []string{`"rain" is none of synced, leader, view`}},
		{"wait synced --bound 0s", []string{"--bound must be above 0"}},
		{"wait synced --bound -1ms", []string{"--bound must be above 0"}},
		{"wait leader --bound 1ms", []string{"--bound is for synced only"}},
		{"wait view --members 0", []string{"no view ever has 0 members"}},
		{"wait view --members 256", []string{"no view ever has 256 members"}},
		{"wait leader --members 2", []string{"--members is for view only"}},
		{"wait leader --timeout -1s", []string{"--timeout must not be below 0"}},
		{"node", []string{"--id: ID: a node id from 1 to 255 is needed"}},
		{"node --id 0", []string{`--id: node id "0" is not a number from 1 to 255`}},
		{"node --id 256", []string{`--id: node id "256"`}},
		{"node --id 1 surplus", []string{`unknown command "surplus"`}},
		{"node --id 1 --lock-time 20ms", []string{"--lock-time: LockTime: 20ms is too short", "must be at least 75.01"}},
		{"node --id 1 --expires 10ms", []string{"--expires: Expires: 10ms is too short", "must be at least 80.00"}},
		{"node --id 1 --preset moon", []string{`--preset: "moon" is none of local, lan, wan`}},
		{"node --id 1 --mode loose", []string{`--mode: mode "loose"`}},
		{"node --id 1 --rank last", []string{`--rank: rank "last"`}},
		{"node --id 1 --weight 70000", []string{`--weight: "70000" is not a number from 0 to 65535`}},
		{"node --id 1 --quorum explicit:1/2", []string{"--quorum: quorum: the quorums {1} and {2} have no node in common"}},
		{"node --id 1 --quorum-epoch 0", []string{`--quorum-epoch: "0" is not a number from 1 on`}},
		{"node --id 1 --quorum-epoch 2", []string{"--quorum-epoch: QuorumEpoch: 2 without a Quorum"}},
		{"lock", []string{"a command is needed: failaware lock -- CMD ARGS", "see 'failaware lock --help'"}},
		{"lock --bogus -- true", []string{"unknown flag: --bogus"}},
		{"lock --term-before -1s -- true", []string{"--term-before must not be below 0"}},
		{"lock --token x -- true", []string{"--token needs --global"}},
		{"lock --timeout -1s -- true", []string{"--timeout must not be below 0"}},
		{"lock -- /nonexistent/command", []string{"/nonexistent/command"}},
		{"leader verify x", []string{`verify: node id "x"`}},
		{"leader resign --to 0", []string{`--to: node id "0"`}},
		{"node --id 1 --max-drift-ppb 99999999", []string{`--max-drift-ppb: "99999999" is not a number from 0 to 10000000`}},
		{"node --id 1 --log-level loud", []string{`--log-level: "loud" is none of trace`}},
		{"node --id 1 --listen 192.0.2.1:7000", []string{"--listen: Listen:", "only --insecure allows it"}},
		{"node --id 1 --listen nonsense", []string{"--listen: Listen:", "is not host:port"}},
		{"node --id 1 --peer 2=nonsense", []string{"--peer: Peers:", "is not host:port"}},
		{"node --id 1 --peer x=127.0.0.1:1", []string{`--peer: "x=127.0.0.1:1": node id "x"`}},
		{"node --id 1 --peer 2=127.0.0.1:1 --peer 2=127.0.0.1:2", []string{"Peers[0] has the same id"}},
		{"node --id 1 --api 192.0.2.1:80", []string{`--api: "192.0.2.1:80" is not a loopback address`}},
		{"node --id 1 --api 127.0.0.1:0", []string{"--api: ", "--api-token is needed"}},
		{"node --id 1 --api unix:", []string{"names no socket"}},
		{"node --id 1 --ntp-listen nonsense", []string{"--ntp-listen: NTP.Listen:", "is not host:port"}},
		{"node --id 1 --ntp-listen 127.0.0.1:0 --ntp-stratum 16", []string{`--ntp-stratum: "16" is not a number from 1 to 15`}},
		{"node --id 1 --ntp-stratum 2", []string{"--ntp-stratum: it needs --ntp-listen"}},
		{"node --id 1 --clockbound-max-slew-ppb 2", []string{"--clockbound-max-slew-ppb: it needs --clockbound"}},
		{"node --id 1 --clockbound /x --clockbound-max-slew-ppb 200000000", []string{`"200000000" is not a number from 0 to 100000000`}},
		{"node --id 1 --api none --clockbound /nonexistent/dir/shm0", []string{"ClockBound", "/nonexistent/dir"}},
		{"node --id 1 --leave-timeout 0s", []string{"--leave-timeout: 0s is not above 0"}},
		{"node --id 1 --config /nonexistent/node.yaml", []string{"/nonexistent/node.yaml: no such file"}},
		{"node --id 1 --report /nonexistent/report --api none", []string{"/nonexistent/report: no such file"}},
		{"config check one two", []string{"accepts at most 1 arg"}},
		{"config check a.yaml --config b.yaml", []string{"two files are named"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			clitest.CheckWrongUsage(t, &program, strings.Fields(c.args), c.want...)
		})
	}
}

func TestAllWrongSettingsAreNamedAtOnce(t *testing.T) {
	t.Setenv("FAILAWARE_WEIGHT", "heavy")
	code, _, err := invoke("node", "--id", "x", "--mode", "y")
	require.Equal(t, 2, code)
	require.Contains(t, err, "--id: ")
	require.Contains(t, err, "--mode: ")
	require.Contains(t, err, "FAILAWARE_WEIGHT: ")
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"node", "--help"}, {"config"}, {"wait", "--help"}, {"--version"}} {
		code, out, err := invoke(args...)
		require.Zero(t, code, args)
		require.Contains(t, out, "failaware")
		require.Empty(t, err)
	}
}

func TestEveryCommandHasHelp(t *testing.T) { clitest.CheckHelp(t, &program) }

func TestNoNodeAtTheAddress(t *testing.T) {
	socket := shortDir(t) + "/none"
	for _, args := range []string{"status", "members", "leader", "leader --global", "leader resign", "leader resign --to 2", "leader verify 2", "leader find", "leader find --global", "view", "clock", "clock -w", "watch", "wait leader --timeout 50ms"} {
		code, out, err := invoke(append(strings.Fields(args), "--addr", "unix:"+socket)...)
		require.Equal(t, 1, code, args)
		require.Empty(t, out)
		require.Contains(t, err, "no node answers at "+socket+": no such file or directory", args)
		require.Equal(t, 1, strings.Count(err, "\n"), err)
	}
	t.Setenv("FAILAWARE_ADDR", socket)
	_, _, err := invoke("status")
	require.Contains(t, err, socket)
}
