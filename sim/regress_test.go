package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// otherNumbers is with how many seeds a stored case is run, its own first. Its
// schedule stays as it is; delays, clocks and jitter differ, so that a case
// survives changes of the code that shift random numbers.
const otherNumbers = 64

// stored is a case of testdata/regress. Its name is that of its file: for cases
// of planted bugs, the name of the bug.
type stored struct {
	name string
	Case
}

func storedCases(t *testing.T) (out []stored) {
	t.Helper()
	paths, err := filepath.Glob("testdata/regress/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		c, err := ReadCase(f)
		require.NoError(t, err, path)
		require.NotEmpty(t, c.Note, "%s: what is it kept for?", path)
		require.NotEmpty(t, c.Check, "%s: which promise did it break?", path)
		out = append(out, stored{strings.TrimSuffix(filepath.Base(path), ".json"), c})
	}
	return out
}

// withSeed returns the case with another seed: the i-th after its own.
func (s stored) withSeed(i uint64) Case {
	c := s.Case
	c.Seed += i
	return c
}

// Whatever once broke a promise, in the code or in a planted bug, stays whole.
func TestRegressions(t *testing.T) {
	for _, s := range storedCases(t) {
		t.Run(s.name, func(t *testing.T) {
			for i := range uint64(otherNumbers) {
				c := s.withSeed(i)
				r, err := c.Run()
				require.NoError(t, err)
				if r.Violation != nil {
					t.Fatalf("%v", r.Violation)
				}
			}
		})
	}
}
