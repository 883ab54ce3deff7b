//go:build unix

package main

import (
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
}
