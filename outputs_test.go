package failaware

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/beevik/ntp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/clocksync/ntpserver"
	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/internal/ntptest"
	"github.com/failaware/failaware/internal/outputs"
)

func askNTP(t *testing.T, addr string) *ntp.Response {
	t.Helper()
	r, err := ntp.QueryWithOptions(addr, ntp.QueryOptions{Timeout: time.Minute})
	require.NoError(t, err)
	return r
}

// segmentStatus waits until the segment has been written.
func segmentStatus(t *testing.T, path string) clockbound.Status {
	t.Helper()
	r, err := clockbound.Open(path)
	require.NoError(t, err)
	defer r.Close()
	for {
		if i, err := r.Now(); err == nil {
			return i.Status
		}
		time.Sleep(time.Millisecond)
	}
}

// withOutputs returns a configuration with all outputs that this system has.
func withOutputs(t *testing.T) Config {
	c := Config{ID: 1, NTP: &NTPConfig{Listen: "127.0.0.1:0"}}
	if _, err := clockbound.Open(""); !errors.Is(err, errors.ErrUnsupported) {
		c.ClockBound = &ClockBoundConfig{Path: filepath.Join(t.TempDir(), "shm0")}
	}
	return c
}

func TestANodeWithoutUTCServesNone(t *testing.T) {
	cfg := withOutputs(t)
	n, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	defer n.Close()
	require.Error(t, askNTP(t, n.NTPAddr().String()).Validate())
	stats, on := n.NTPStats()
	require.True(t, on)
	require.Equal(t, ntpserver.Stats{Requests: 1, Unsynchronized: 1}, stats)
	if cfg.ClockBound != nil {
		require.Equal(t, clockbound.Unknown, segmentStatus(t, cfg.ClockBound.Path))
	}

	cfg.ID, cfg.ClockBound, cfg.NTP = 2, nil, &NTPConfig{Listen: n.NTPAddr().String()}
	_, err = Start(t.Context(), cfg)
	require.ErrorIs(t, err, ErrServeTime)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.NoError(t, n.Close())
	again, err := Start(t.Context(), cfg)
	require.NoError(t, err, "the address is free")
	require.NoError(t, again.Close())

	cfg.ClockBound = &ClockBoundConfig{Path: filepath.Join(t.TempDir(), "none", "shm0")}
	_, err = Start(t.Context(), cfg)
	require.ErrorIs(t, err, ErrServeTime)
	cfg.ClockBound = nil
	again, err = Start(t.Context(), cfg)
	require.NoError(t, err, "the start that failed has let the address go")
	require.NoError(t, again.Close())

	none, err := Start(t.Context(), Config{ID: 1})
	require.NoError(t, err)
	defer none.Close()
	_, on = none.NTPStats()
	require.False(t, on)
	require.False(t, none.NTPAddr().IsValid())
}

func TestANodeWithUTCServesIt(t *testing.T) {
	cfg := withOutputs(t).WithDefaults()
	o, err := outputs.Start(t.Context(), cfg.outputs(), func() serve.Answer {
		return serve.Answer{Time: clocksync.Time(time.Now().UnixNano()), Bound: time.Millisecond, External: true}
	})
	require.NoError(t, err)
	r := askNTP(t, o.Addr().String())
	require.NoError(t, r.Validate())
	require.Equal(t, referenceID(cfg.Group), r.ReferenceID)
	if cfg.ClockBound != nil {
		require.Equal(t, clockbound.Synchronized, segmentStatus(t, cfg.ClockBound.Path))
		_, err := outputs.Start(t.Context(), cfg.outputs(), nil)
		require.ErrorIs(t, err, clockbound.ErrInUse)
	}
	require.NoError(t, o.Close())
	if cfg.ClockBound != nil {
		require.Equal(t, clockbound.Unknown, segmentStatus(t, cfg.ClockBound.Path))
	}
}

// The clients of a node's NTP server get the time of its references, its bound, and
// the leap second.
func TestANodeServesWhatItsReferencesSay(t *testing.T) {
	middle := time.Date(2027, time.June, 15, 0, 0, 0, 0, time.UTC) // the end of the month is far
	ref := ntptest.Start(t, ntptest.Behaviour{Shift: time.Until(middle), Dispersion: time.Millisecond, Leap: uint8(ntp.LeapAddSecond)})
	n, err := Start(t.Context(), Config{ID: 1, NTP: &NTPConfig{Listen: "127.0.0.1:0"}, References: []Reference{{NTP: ref.Addr()}}})
	require.NoError(t, err)
	defer n.Close()
	eventually(t, "external", func() bool { return n.Clock().Status == clocksync.External })
	r := askNTP(t, n.NTPAddr().String())
	require.NoError(t, r.Validate())
	require.Equal(t, ntp.LeapAddSecond, r.Leap)
	require.GreaterOrEqual(t, r.RootDispersion, time.Millisecond)
	require.LessOrEqual(t, r.RootDispersion, clocksync.DefaultMaxUTCError)
	require.LessOrEqual(t, r.Time.Sub(middle).Abs(), time.Hour)
}

func TestSettingsOfTheOutputsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"NTP.Listen: \"x\" is not host:port":         func(c *Config) { c.NTP.Listen = "x" },
		"NTP: option Stratum: 16 is outside [1, 15]": func(c *Config) { c.NTP.Stratum = 16 },
		"NTP: PerSource.Burst: -1 is outside":        func(c *Config) { c.NTP.PerSource = ntpserver.Limit{PerSecond: 1, Burst: -1} },
		"NTP.Listen: \"0.0.0.0:123\" is not a loopback address, and its answers are not authenticated": func(c *Config) {
			c.KeyFile, c.NTP.Listen = "keys", "0.0.0.0:123" // keys seal packets, and no answers to NTP clients
		},
		"ClockBound.Path: a path is needed":            func(c *Config) { c.ClockBound.Path = "" },
		"ClockBound.MaxSlew: 100000001 ppb is outside": func(c *Config) { c.ClockBound.MaxSlew = 100_000_001 },
	} {
		c := Config{ID: 1, NTP: &NTPConfig{Listen: "127.0.0.1:0"}, ClockBound: &ClockBoundConfig{Path: "x"}}
		_, err := c.Validate()
		require.NoError(t, err)
		change(&c)
		_, err = c.Validate()
		require.ErrorContains(t, err, want)
	}
}

// Every setting of an output reaches it.
func TestOutputsGetTheirSettings(t *testing.T) {
	each, all := ntpserver.Limit{PerSecond: 1, Burst: 2}, ntpserver.Limit{PerSecond: 3, Burst: 4}
	c := Config{Group: "g", Timing: Timing{MaxDrift: 5}, NTP: &NTPConfig{Listen: "127.0.0.1:123", Stratum: 7, PerSource: each, Total: all},
		ClockBound: &ClockBoundConfig{Path: "shm", MaxSlew: 83_333_000}}
	require.Equal(t, outputs.Config{Listen: "127.0.0.1:123", NTP: ntpserver.Options{Stratum: 7, ReferenceID: referenceID("g"), PerSource: each, Total: all},
		Path: "shm", Bound: clockbound.Options{Drift: 5, Slew: 83_333_000}}, c.outputs())
}
