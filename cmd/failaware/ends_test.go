package main

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// endPoints are the least and the largest value of a setting, and what else is set.
type endPoints struct {
	low, high string
	with      map[string]string
}

var broadcasts = map[string]string{"broadcast.on": "true", "broadcast.max_payload": "1"}

// endsOf has the ends of every setting that is a number or a duration.
var endsOf = map[string]endPoints{
	"id":           {low: "1", high: "255"},
	"max_peers":    {low: "1", high: "254"},
	"max_packet":   {low: "1200", high: "65000"},
	"event_buffer": {low: "1", high: "1048576"},

	"timing.max_drift_ppb":    {low: "1", high: "10000000"},
	"timing.one_way_timeout":  {low: "10us", high: "1h"},
	"timing.fast_threshold":   {low: "10us", high: "1h"},
	"timing.min_delay":        {low: "0s", high: "999us", with: map[string]string{"timing.one_way_timeout": "999001ns"}},
	"timing.scheduling_delay": {low: "10us", high: "1h"},
	"timing.election_period":  {low: "10us", high: "1h"},
	"timing.keepalive_period": {low: "10us", high: "1h"},
	"timing.expires":          {low: "10us", high: "1h"},
	"timing.lock_time":        {low: "10us", high: "1h"},
	"timing.max_lock_time":    {low: "10us", high: "1h"},

	"quorum_epoch":         {low: "1", high: "9223372036854775807", with: map[string]string{"quorum": "majority:1,2,3"}},
	"weight":               {low: "0", high: "65535"},
	"collate_above":        {low: "5", high: "254"},
	"collate_fanout":       {low: "2", high: "64"},
	"clock.max_deviation":  {low: "1ns", high: "1h"},
	"clock.max_slew_ppb":   {low: "1", high: "1000000"},
	"clock.step_threshold": {low: "1ns", high: "1h"},
	"clock.max_utc_error":  {low: "1ns", high: "1h"},
	"clock.min_references": {low: "1", high: "64"},

	"broadcast.window":       {low: "4096", high: "1073741824", with: broadcasts},
	"broadcast.max_messages": {low: "1", high: "1048576", with: broadcasts},
	"broadcast.max_payload":  {low: "1", high: "67108864", with: map[string]string{"broadcast.on": "true"}},
	"broadcast.packet_bytes": {low: "256", high: "60000", with: broadcasts},
	"broadcast.backlog":      {low: "1", high: "1073741824", with: broadcasts},
	"broadcast.slow_after":   {low: "10us", high: "1h", with: broadcasts},

	"ntp.stratum":             {low: "1", high: "15", with: map[string]string{"ntp.listen": "127.0.0.1:0"}},
	"clockbound.max_slew_ppb": {low: "0", high: "100000000", with: map[string]string{"clockbound.path": "/x"}},
	"handlers.timeout":        {low: "1ns", high: "24h"},
	"leave_timeout":           {low: "1ns", high: "24h"},
}

// complaints returns what loadConfig says of one setting itself. A relation to others is not
// of its ends.
func complaints(s *setting, value string, with map[string]string) (said string) {
	from := source{"id": {{"1", "--id"}}}
	for key, text := range with {
		from[key] = []raw{{text, "also"}}
	}
	from[s.key] = []raw{{value, "--" + s.flag}}
	_, _, err := loadConfig("", from)
	if err == nil {
		return ""
	}
	for line := range strings.Lines(err.Error()) {
		if strings.HasPrefix(line, "--"+s.flag+": ") && !strings.Contains(line, "too short") && !strings.Contains(line, " is below ") {
			said += line
		}
	}
	return said
}

// A setting has a least and a largest value. What is beyond is refused, by name and with the
// reason, and so is what no integer holds.
func TestEndsOfSettings(t *testing.T) {
	t.Setenv(configFileEnv, "")
	for _, s := range settings {
		e, known := endsOf[s.key]
		isTime := s.kind == "duration"
		isNumber := s.kind == "count" || s.kind == "bytes" || s.kind == "ppb" || s.kind[0] >= '0' && s.kind[0] <= '9'
		require.Equal(t, isTime || isNumber, known, s.key)
		if !known {
			continue
		}
		beyond := []string{plus(t, e.low, -1, isTime), plus(t, e.high, 1, isTime), "-1", "18446744073709551616", "1.5", "", "nan"}
		if isTime {
			beyond = append(beyond, "-1ns", "2562048h", "1")
		}
		for _, value := range beyond {
			require.Regexp(t, "outside|not a number|not above 0|more than|neither|not a duration|never", complaints(s, value, e.with), "%s %q", s.key, value)
		}
		require.NotContains(t, complaints(s, "18446744073709551616", e.with), "not a number from 1 on", s.key)
		require.Empty(t, complaints(s, e.low, e.with), s.key)
		require.Empty(t, complaints(s, e.high, e.with), s.key)
	}
}

// plus returns a value that is by so many units larger, the unit of a duration being 1 ns.
func plus(t *testing.T, value string, units int64, isTime bool) string {
	t.Helper()
	if isTime {
		d, err := time.ParseDuration(value)
		require.NoError(t, err)
		return (d + time.Duration(units)).String()
	}
	n, ok := new(big.Int).SetString(value, 10)
	require.True(t, ok, value)
	return n.Add(n, big.NewInt(units)).String()
}
