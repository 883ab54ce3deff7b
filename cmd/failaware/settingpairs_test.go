package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sampleSettings are values of settings by their flags, and sampleKinds by their kinds.
var (
	sampleSettings = map[string]string{
		"id": "1", "api": "127.0.0.1:7900", "http": "127.0.0.1:7901", "api-listen": "0.0.0.0:7902", "max-packet": "1300", "max-drift-ppb": "100000",
		"max-lock-time": "1m", "broadcast-max-messages": "4096", "broadcast-packet-bytes": "1000", "quorum": "majority:1,2", "weight": "3", "ntp-listen": "127.0.0.1:7903",
		"peer": "2=127.0.0.1:7002", "join": "127.0.0.1:7003", "tag": "zone=eu", "listen": "127.0.0.1:7001", "ntp": "127.0.0.1:123", "phc": "/dev/ptp0",
		"handler": "elected=true", "webhook": "elected=http://127.0.0.1:7904/", "log-level": "warn", "kv": "partitionable", "preset": "lan",
		"mode": "strict", "rank": "id", "collate-fanout": "3", "ntp-stratum": "3", "clockbound-max-slew-ppb": "500000", "max-slew-ppb": "400000",
	}
	sampleKinds = map[string]string{kindBool: "true", "name": "n", "count": "9", "bytes": "65536", "directory": "dir", "file": "file"}
	// ofTiming are durations that are sound beside the preset.
	ofTiming = map[string]string{"one-way-timeout": "4ms", "fast-threshold": "10ms", "min-delay": "0s", "scheduling-delay": "4ms",
		"election-period": "90ms", "keepalive-period": "90ms", "expires": "6s", "lock-time": "4s"}
)

// Settings of a node that have no meaning alone or together are refused. The file has the
// settings that are refused alone, and with which one they are not; and those that are only
// refused together.
func TestSettingsThatAreRefusedTogether(t *testing.T) {
	t.Parallel()
	problem := func(of ...*setting) string {
		values := source{"id": {{"1", "--id"}}}
		for _, s := range of {
			value := sampleSettings[s.flag]
			for _, other := range []string{sampleKinds[s.kind], ofTiming[s.flag], "1s"} {
				if value == "" && (other != "1s" || s.kind == "duration") {
					value = other
				}
			}
			require.NotEmpty(t, value, "a value of --%s is needed", s.flag)
			values[s.key] = []raw{{value, "--" + s.flag}}
		}
		if _, _, err := loadConfig("", maps.Clone(values)); err != nil {
			return strings.ReplaceAll(err.Error(), "\n", "\n\t\t")
		}
		return ""
	}
	var b strings.Builder
	alone := map[*setting]string{}
	for _, s := range settings {
		if alone[s] = problem(s); alone[s] != "" {
			fmt.Fprintf(&b, "%s\n\t%s\n", s.flag, alone[s])
		}
		for _, other := range settings {
			if both := problem(s, other); alone[s] != "" && other != s && both == "" {
				fmt.Fprintf(&b, "\tnot with %s\n", other.flag)
			}
		}
	}
	for i, s := range settings {
		for _, other := range settings[:i] {
			if both := problem(other, s); alone[s] == "" && alone[other] == "" && both != "" {
				fmt.Fprintf(&b, "%s, %s\n\t%s\n", other.flag, s.flag, both)
			}
		}
	}
	for _, trio := range [][]string{{"api-listen", "api-tls-cert", "api-tls-key"}, {"api-listen", "api-tls-cert", "api-token"},
		{"api-listen", "api-tls-key", "api-token"}, {"kv", "kv-dir", "join-quorum"}} {
		var of []*setting
		for _, flag := range trio {
			of = append(of, settings[slices.IndexFunc(settings, func(s *setting) bool { return s.flag == flag })])
		}
		fmt.Fprintf(&b, "%s\n\t%s\n", strings.Join(trio, ", "), problem(of...))
	}
	requireTexts(t, "settingpairs.txt", "Settings of a node that are refused, alone or two together.", "\n"+b.String())
}
