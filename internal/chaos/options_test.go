package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Options that play nothing, or that no schedule has, are refused.
func TestOptionsAreChecked(t *testing.T) {
	valid := Options{Seed: 1, Nodes: 3, For: time.Minute}
	require.NoError(t, valid.Check())
	for want, change := range map[string]func(*Options){
		"--seed":      func(o *Options) { o.Seed = 0 },
		"--nodes 2":   func(o *Options) { o.Nodes = 2 },
		"--minutes":   func(o *Options) { o.For = 0 },
		"--first -1":  func(o *Options) { o.First = -1 },
		"--episodes ": func(o *Options) { o.Only = -1 },
		"--kinds":     func(o *Options) { o.Kinds = []Kind{"flood"} },
	} {
		o := valid
		change(&o)
		require.ErrorContains(t, o.Check(), want)
	}
}
