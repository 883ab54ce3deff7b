package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
)

func TestReferencesOfFlagsAndEnvironment(t *testing.T) {
	t.Setenv("FAILAWARE_NTP", "a.example.com, b.example.com:124")
	flags := source{"id": {{"1", "--id"}}, "references.kernel_clock": {{"true", "--kernel-clock"}},
		"references.phc": {{"/dev/ptp0:37s:2us", "--phc"}, {"/dev/ptp1", "--phc"}}}
	c, _, err := loadConfig("", flags)
	require.NoError(t, err)
	require.ElementsMatch(t, []failaware.Reference{{NTP: "a.example.com"}, {NTP: "b.example.com:124"}, {KernelClock: true},
		{PHC: "/dev/ptp0", Offset: 37 * time.Second, Error: 2 * time.Microsecond}, {PHC: "/dev/ptp1"}}, c.References)
}

func TestSourcesTable(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, writeSources(&b, &api.Sources{}))
	require.Equal(t, "no references\n", b.String())
	b.Reset()
	ns := func(d time.Duration) *int64 { n := int64(d); return &n }
	require.NoError(t, writeSources(&b, &api.Sources{Sources: []api.Source{
		{Name: "ntp a", Node: 1, Own: true, Verdict: "falseticker", OffsetNS: ns(10 * time.Second), BoundNS: ns(time.Millisecond),
			AgeNS: ns(3 * time.Second), Reach: 0b1000_0101, Samples: 7, Error: "timeout"},
		{Source: "00000000000000ff", Node: 3, Verdict: "none"},
	}}))
	for _, want := range []string{"ntp a", "falseticker", "10s", "x....x.x", "timeout", "00000000000000ff", "none"} {
		require.Contains(t, b.String(), want)
	}
}
