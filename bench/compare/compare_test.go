package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// around returns values around v, like those of a busy machine.
func around(v float64) []float64 {
	return []float64{v, 1.02 * v, 0.97 * v, 1.05 * v, 0.99 * v, 1.6 * v}
}

// judged returns the verdict where measure a of the new build costs the given ratios of
// the old in one repetition after the other, and measure b stays the same.
func judged(ratios ...float64) (text string, runs int, err error) {
	var out strings.Builder
	err = judge(func(benchmark) (old, new map[string][]float64, err error) {
		r := ratios[runs]
		runs++
		return map[string][]float64{"a": around(2), "b": around(7)}, map[string][]float64{"a": around(2 * r), "b": around(7)}, nil
	}, benchmarks[:1], &out)
	return out.String(), runs, err
}

func TestWorseThreeTimesFails(t *testing.T) {
	text, runs, err := judged(1.3, 1.25, 1.4)
	require.ErrorIs(t, err, errWorse)
	require.Equal(t, 3, runs)
	require.Contains(t, text, "+30.00%")
	require.Contains(t, text, "p=0.0")
	require.Contains(t, text, "worse, 3 of 3 times: a\n")
}

func TestOneGoodRepetitionIsEnough(t *testing.T) {
	for _, ratios := range [][]float64{{1}, {0.5}, {1.1}, {1.3, 1}, {1.3, 1.3, 1.1}} {
		text, runs, err := judged(ratios...)
		require.NoError(t, err, text)
		require.Equal(t, len(ratios), runs)
	}
}

// With few values a slower build looks like chance in one repetition or the other. The
// values are those of a build that is 20 µs slower per packet.
func TestRepetitionsAreJudgedTogether(t *testing.T) {
	ofFour := func(last ...float64) (text string, err error) {
		var out strings.Builder
		again := 0
		news := [][]float64{{9, 9.5, 9.4, 10}, {8, 8.3, 9, 3.15}, last}
		err = judge(func(benchmark) (old, new map[string][]float64, err error) {
			again++
			return map[string][]float64{"a": {3.1, 3.2, 3.3, 3.2}}, map[string][]float64{"a": news[again-1]}, nil
		}, benchmarks[:1], &out)
		return out.String(), err
	}
	text, err := ofFour(7, 8, 7, 6)
	require.Contains(t, text, "~", "one repetition alone shows nothing")
	require.ErrorIs(t, err, errWorse, text)
	text, err = ofFour(3.1, 3, 4.5, 4.5) // the median is worse, but all eight may be so by chance
	require.NoError(t, err, text)
}

// A median that is worse by chance says nothing.
func TestDifferenceMustBeMoreThanChance(t *testing.T) {
	c := compare([]float64{1, 1, 1, 2, 2, 2}, []float64{1, 1, 2, 2, 2, 2})
	require.True(t, c.slower())
	require.False(t, c.clearly())
}

func TestRefusesWrongArguments(t *testing.T) {
	for args, want := range map[string]string{
		"-rounds 3":                  "-rounds: 3 is not in [4, 100]",
		"-rounds 4 more":             `unexpected argument "more"`,
		"-old no-such-commit":        "no-such-commit",
		"-old --output=/no-such-dir": "no-such-dir",
	} {
		require.ErrorContains(t, do(context.Background(), strings.Fields(args), io.Discard, io.Discard), want)
	}
}

func TestReadsResults(t *testing.T) {
	values, err := readElection([]byte(`{"sizes": [{"nodes": 4, "ratio": 1.25}]}`))
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"election of 4, mean": 1.25}, values)

	values, err = readBroadcast([]byte(`{"cells": [{"size": 64, "slow": {"latency": {"p50_us": 30}},
		"floors": {"packed": {"share": 0.25}, "slow": {"latency": {"p50_us": 20}}}}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"broadcast of 64 bytes, p50 at 100/s", "broadcast of 64 bytes, time at saturation"}, slices.Sorted(maps.Keys(values)))
	require.Equal(t, 4.0, values["broadcast of 64 bytes, time at saturation"])
	require.Equal(t, 1.5, values["broadcast of 64 bytes, p50 at 100/s"])

	// A result without a floor is no result.
	values, err = readBroadcast([]byte(`{"cells": [{"size": 64}]}`))
	require.NoError(t, err)
	require.ErrorContains(t, add(map[string][]float64{}, values), "not a ratio")
	require.ErrorContains(t, add(map[string][]float64{}, nil), "no values")
}
