package shape

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unlinked lists packages that must not be linked into the daemon: prefixes of import
// paths, each with a description.
var unlinked = map[string]string{
	module + "/sim":               "a simulator",
	module + "/internal/bench":    "a benchmark",
	module + "/internal/figure":   "a plotter",
	module + "/internal/svg":      "pictures",
	module + "/internal/ntptest":  "a test helper",
	module + "/internal/leftover": "a test helper",
	module + "/internal/race":     "a test helper",
	"gonum.org":                   "a plotter",
	"golang.org/x/image":          "pictures and fonts",
	"image/png":                   "pictures",
	"net/http/pprof":              "a debugging API",
	"testing":                     "a test helper",
}

// systems are the values of GOOS for which the project is built.
var systems = []string{"linux", "darwin", "freebsd", "windows"}

func TestTheDaemonLinksOnlyWhatItNeeds(t *testing.T) {
	for _, goos := range systems {
		cmd := exec.Command("go", "list", "-deps", "./cmd/failaware")
		cmd.Dir = root(t)
		cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		out, err := cmd.Output()
		require.NoError(t, err)
		for dep := range strings.FieldsSeq(string(out)) {
			for prefix, what := range unlinked {
				if dep == prefix || strings.HasPrefix(dep, prefix+"/") {
					t.Errorf("cmd/failaware on %s links %s: %s", goos, dep, what)
				}
			}
		}
	}
}
