package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/clocktrial"
)

func TestSimClocksTable(t *testing.T) {
	var b bytes.Buffer
	ns := int64(47e9)
	require.NoError(t, writeClocks(&b, []*clocktrial.Result{
		{Scenario: "a", Samples: 10, Bounded: 9, RMSNS: 12_000, Within1msNS: &ns, Monotone: true},
		{Scenario: "b", Samples: 10, Bounded: 1_000_000, Outside: 1}}))
	require.Regexp(t, `a +10 +100% +12µs .* 47s +never .* yes`, b.String())
	require.Regexp(t, `b +10 +999999 of 1000000 .* no`, b.String())
}
