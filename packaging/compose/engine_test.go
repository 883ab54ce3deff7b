package compose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// needsEngine skips the test where no Docker engine answers, and says why.
func needsEngine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the program, an image and three containers")
	}
	for _, args := range [][]string{{"version"}, {"compose", "version"}} {
		if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
			t.Skipf("docker %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
}

// repository makes a directory like the repository after CGO_ENABLED=0 make build, and
// answers with its examples/compose.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "examples/compose")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../examples/compose")))
	build := exec.Command("go", "build", "-C", "../..", "-buildvcs=false", "-o", filepath.Join(root, "bin/failaware"), "./cmd/failaware")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// The commands of the example's page, as a user types them, do what the page says. Only the
// name of the project is another, so that a user's group on this engine goes on.
func TestThePageRunsOnAnEngine(t *testing.T) {
	needsEngine(t)
	page, err := os.ReadFile("../../examples/compose/README.md")
	require.NoError(t, err)
	project := fmt.Sprint("failaware-test-", os.Getpid())
	g := engine{t: t, dir: repository(t), project: project}
	t.Cleanup(func() { g.sh("docker compose down --volumes --rmi all") })
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 7)
	block := func(i int) string {
		return g.sh(strings.NewReplacer("failaware_group", project+"_group", "failaware-three-1", project+"-three-1").Replace(blocks[i][1]))
	}
	out := block(0)
	require.Contains(t, out, "with members {1 2 3}")
	require.Regexp(t, `(?m)^three .* yes `, out)

	require.Contains(t, block(1), "\nblue\n")
	g.await("one", "{1 2}")
	require.Contains(t, block(2), "with members {1 2 3}")

	block(3)
	g.await("three", "{3}")
	g.await("one", "{1 2}")
	out = block(4)
	require.Contains(t, out, "no quorum here\nblue\n")
	require.Contains(t, out, "node 3 (three): silent")
	require.Contains(t, block(5), "with members {1 2 3}")

	require.NotEmpty(t, g.sh("docker compose ps --quiet"))
	block(6)
	require.Empty(t, g.sh("docker compose ps --all --quiet"))
}

// engine runs commands beside a copy of the example.
type engine struct {
	t            *testing.T
	dir, project string
}

func (g engine) sh(script string) string {
	g.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "COMPOSE_PROJECT_NAME="+g.project, "FAILAWARE_IMAGE="+g.project)
	out, err := cmd.CombinedOutput()
	require.NoError(g.t, err, "%s\n%s", script, out)
	return string(out)
}

// await waits until a service's view has exactly these members: a view that is about to end
// is up to date for some time.
func (g engine) await(service, members string) {
	g.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for view := ""; !strings.Contains(view, "members "+members+"; up to date"); time.Sleep(100 * time.Millisecond) {
		require.True(g.t, time.Now().Before(deadline), "%s waits for a view of %s: %s", service, members, view)
		view = g.sh("docker compose exec " + service + " /failaware view || true")
	}
}
