//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The results of shards add up, also out of logs that have more than them.
func TestShardsAreMerged(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	one := file("1", `[1/2] rough: 3 seeds
failaware-lab: rough: never reached: a
[{"name":"rough","seeds":3,"events":10,"not_reached":["a","b"]},{"name":"wan","seeds":1}]
`)
	two := file("2", "[\n {\"name\":\"rough\",\"seeds\":4,\"events\":5,\"violations\":1,\"violation\":{\"seed\":9},\"not_reached\":[\"b\",\"c\"]}\n]\n")
	all, err := mergeShards([]string{one, two})
	require.NoError(t, err)
	require.Len(t, all, 2)
	m := all[0]
	require.Equal(t, []uint64{7, 15, 1, 2}, []uint64{m.Seeds, m.Events, m.Violations, uint64(m.Shards)})
	require.Equal(t, []string{"b"}, m.Missing, "that no shard has reached")
	require.JSONEq(t, `{"seed":9}`, string(m.Violation[0]))
	require.Equal(t, uint64(1), all[1].Seeds)
	_, err = mergeShards([]string{file("3", "nothing")})
	require.ErrorContains(t, err, "3 is no output of campaign run -o json")
	for _, text := range []string{"[]", "[{}]", `[{"name":"rough"}]`, "null"} {
		_, err = mergeShards([]string{one, file("4", text)})
		require.ErrorContains(t, err, "4 has no result of a campaign", text)
	}
	_, err = mergeShards([]string{file("5", `[{"name":"rough","interrupted":true}]`)})
	require.NoError(t, err, "it ended before the first seed")
}

// No seed of a campaign counts twice.
func TestShardsAreMergedOnce(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, first int) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `[{"name":"rough","first_seed":%d,"seeds":10},{"name":"wan","first_seed":%d,"seeds":5}]`, first, first), 0o600))
		return path
	}
	one, between, two := file("one", 1), file("between", 10), file("two", 11)
	_, err := mergeShards([]string{two, one})
	require.NoError(t, err)
	for _, files := range [][]string{{one, one}, {one, between}, {between, one}, {one, two, between}} {
		_, err = mergeShards(files)
		require.ErrorContains(t, err, "of rough, of which ")
	}
}

// A result says with which seed it begins, so that merging it again is noticed.
func TestResultsNameTheirFirstSeed(t *testing.T) {
	var out, problems bytes.Buffer
	require.Zero(t, program.Run(t.Context(), []string{"campaign", "run", "mild", "--seeds", "2", "--shard", "3", "--quiet", "-o", "json"}, nil, &out, &problems), &problems)
	path := filepath.Join(t.TempDir(), "3")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	_, err := mergeShards([]string{path, path})
	require.ErrorContains(t, err, "the seeds 7 to 8 of mild")
}
