//go:build unix

// Package process tests real processes: nodes are started, stopped and killed as an
// operating system does it, and their claims are compared by the hardware clock that
// all processes of a machine share.
package process

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// patience is how long a test waits for events that must come. It is a limit for a busy
// machine, not a measurement.
const patience = 60 * time.Second

// program builds the program once for all tests.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes for a minute; not with -short")
	}
	bin := filepath.Join(t.TempDir(), "failaware")
	cmd := exec.Command("go", "build", "-o", bin, "github.com/failaware/failaware/cmd/failaware")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

// group is a group of node processes.
type group struct {
	t      *testing.T
	bin    string
	dir    string
	preset string
	extra  []string // arguments
	hosts  []string // the address of each node
	ports  []int
	procs  []*proc
	// in returns the command that runs a command in a node's namespace; nil: beside
	// this process.
	in func(id int) []string
}

type proc struct {
	id     int
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	client *api.Client
}

func newGroup(t *testing.T, bin, preset string, n int, extra ...string) *group {
	g := &group{t: t, bin: bin, dir: t.TempDir(), preset: preset, extra: extra, ports: freePorts(t, n)}
	for range n {
		g.hosts = append(g.hosts, "127.0.0.1")
	}
	g.startAll()
	return g
}

// startAll starts all nodes, which end with the test.
func (g *group) startAll() {
	t := g.t
	g.procs = make([]*proc, len(g.ports))
	for id := range g.ports {
		g.start(id + 1)
	}
	t.Cleanup(func() {
		for _, p := range g.procs {
			g.kill(p)
		}
	})
}

// freePorts returns free UDP ports of the loopback address.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		defer c.Close()
		ports = append(ports, c.LocalAddr().(*net.UDPAddr).Port)
	}
	return ports
}

func (g *group) report(id int) string {
	return filepath.Join(g.dir, fmt.Sprintf("claims-%d.ndjson", id))
}

// socket returns where a node has its API.
func (g *group) socket(id int) string { return filepath.Join(g.dir, fmt.Sprintf("%d.sock", id)) }

// start starts, or starts again, a node.
func (g *group) start(id int) {
	g.t.Helper()
	socket := g.socket(id)
	args := []string{"node", "--id", fmt.Sprint(id), "--preset", g.preset, "--api", socket,
		"--listen", fmt.Sprintf("%s:%d", g.hosts[id-1], g.ports[id-1]), "--report", g.report(id), "--log-level", "warn"}
	args = append(args, g.extra...)
	for i, port := range g.ports {
		if i+1 != id {
			args = append(args, "--peer", fmt.Sprintf("%d=%s:%d", i+1, g.hosts[i], port))
		}
	}
	addr, err := api.ParseAddress(socket)
	require.NoError(g.t, err)
	args = append([]string{g.bin}, args...)
	if g.in != nil {
		args = append(g.in(id), args...)
	}
	p := &proc{id: id, cmd: exec.Command(args[0], args[1:]...), stderr: &bytes.Buffer{}, client: api.NewClient(addr, "")}
	p.cmd.Stderr = p.stderr
	require.NoError(g.t, p.cmd.Start())
	g.procs[id-1] = p
}

// kill ends a process at once, as SIGKILL does, and collects it.
func (g *group) kill(p *proc) {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}

func (p *proc) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(s))
}

func (p *proc) status(timeout time.Duration) (*api.Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var s api.Status
	err := p.client.Get(ctx, "/v1/status", &s)
	return &s, err
}

// await waits until all the given nodes hold one up-to-date view of exactly them, and
// returns its leader.
func (g *group) await(ids ...int) (leader int) {
	g.t.Helper()
	deadline := time.Now().Add(patience)
	var last string
	for time.Now().Before(deadline) {
		if leader, last = g.settled(ids); leader != 0 {
			return leader
		}
		time.Sleep(2 * time.Millisecond) // between looks, not a limit
	}
	for _, id := range ids {
		last += "\n" + g.procs[id-1].stderr.String()
	}
	g.t.Fatalf("nodes %v did not come to one up-to-date view: %s", ids, last)
	return 0
}

func (g *group) settled(ids []int) (leader int, why string) {
	var view string
	for _, id := range ids {
		s, err := g.procs[id-1].status(time.Second)
		if err != nil {
			return 0, fmt.Sprintf("node %d: %v", id, err)
		}
		if !s.View.UpToDate || len(s.View.Members) != len(ids) || (view != "" && s.View.ID != view) {
			return 0, fmt.Sprintf("node %d: view %s of %d, up to date %v", id, s.View.ID, len(s.View.Members), s.View.UpToDate)
		}
		view = s.View.ID
		for i, m := range s.View.Members {
			if m.Node != ids[i] {
				return 0, fmt.Sprintf("node %d: view %s holds node %d", id, s.View.ID, m.Node)
			}
		}
		if !s.Leader.UpToDate || (leader != 0 && s.Leader.Leader != leader) {
			return 0, fmt.Sprintf("node %d follows %d", id, s.Leader.Leader)
		}
		leader = s.Leader.Leader
	}
	return leader, ""
}

// others returns the ids of all nodes but one.
func (g *group) others(but int) (ids []int) {
	for i := range g.ports {
		if i+1 != but {
			ids = append(ids, i+1)
		}
	}
	return ids
}

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(childMain())
	}
	os.Exit(m.Run())
}
