package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	size    = 3               // nodes of a group
	patient = 2 * time.Minute // for what takes a second on an idle machine
)

// node is a node of a group, and its process if it has one.
type node struct {
	id      int
	dir     string
	args    []string
	client  *http.Client
	process *exec.Cmd
	ended   chan struct{} // closed when the process has ended
	said    *bytes.Buffer // by the process, after its end
}

// group is a group of nodes on this machine.
type group struct {
	t     *testing.T
	name  string
	nodes []*node
}

// newGroup returns a group whose nodes do not run yet. Arguments may have %d for the id.
func newGroup(t *testing.T, name string, args ...string) *group {
	g := &group{t: t, name: name}
	dir := t.TempDir()
	var ports []string
	for range size {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		require.NoError(t, err)
		ports = append(ports, c.LocalAddr().String())
		defer c.Close()
	}
	for id := 1; id <= size; id++ {
		n := &node{id: id, dir: dir}
		n.args = []string{"node", "--group", name, "--id", strconv.Itoa(id), "--listen", ports[id-1], "--api", n.socket(),
			"--state-dir", filepath.Join(dir, "state"), "--leave-timeout", "1m"}
		for peer, addr := range ports {
			if peer != id-1 {
				n.args = append(n.args, "--peer", fmt.Sprintf("%d=%s", peer+1, addr))
			}
		}
		for _, a := range args {
			if a == "DIR" {
				a = filepath.Join(dir, fmt.Sprint("kv", id))
			}
			n.args = append(n.args, a)
		}
		n.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", n.socket())
		}}}
		g.nodes = append(g.nodes, n)
	}
	t.Cleanup(g.kill)
	return g
}

func (n *node) socket() string { return filepath.Join(n.dir, fmt.Sprintf("%d.api", n.id)) }

// start starts the process of a node.
func (g *group) start(n *node, program string) {
	n.process, n.ended, n.said = exec.Command(program, n.args...), make(chan struct{}), &bytes.Buffer{}
	n.process.Stdout, n.process.Stderr = n.said, n.said
	n.process.Env = append(os.Environ(), "FAILAWARE_ADDR=")
	require.NoError(g.t, n.process.Start())
	go func() {
		defer close(n.ended)
		_ = n.process.Wait()
	}()
}

// stop has a node hand over, leave and end, as the service does at an upgrade.
func (g *group) stop(n *node) {
	require.NoError(g.t, n.process.Process.Signal(syscall.SIGTERM))
	select {
	case <-n.ended:
		require.Equal(g.t, 0, n.process.ProcessState.ExitCode(), "node %d of group %s: %s", n.id, g.name, n.said)
	case <-time.After(patient):
		require.Fail(g.t, "the node does not end", "node %d of group %s", n.id, g.name)
	}
}

func (g *group) kill() {
	for _, n := range g.nodes {
		if n.process != nil {
			_ = n.process.Process.Kill()
			<-n.ended
		}
	}
}

// ask sends a request to a node, and decodes the answer if there is one.
func (n *node) ask(ctx context.Context, method, path, body string, answer any) error {
	q, err := http.NewRequestWithContext(ctx, method, "http://node"+path, bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	res, err := n.client.Do(q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", res.Status, b)
	}
	return json.Unmarshal(b, answer)
}

// answers are the parts of a status that matter here.
type answers struct {
	Version string
	Leader  struct {
		UpToDate bool `json:"up_to_date"`
	}
	View struct {
		UpToDate bool `json:"up_to_date"`
		Members  []struct{}
	}
	Counters map[string]uint64
}

// whole reports whether a node is in an up-to-date view of all, and its store, if it has
// one, takes operations.
func (n *node) whole(store bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var a answers
	if n.ask(ctx, "GET", "/v1/status", "", &a) != nil || !a.View.UpToDate || len(a.View.Members) != size {
		return false
	}
	var s struct{ Accepting bool }
	return !store || n.ask(ctx, "GET", "/v1/kv/status", "", &s) == nil && s.Accepting
}

// settle waits until all nodes are whole.
func (g *group) settle(store bool) {
	g.t.Helper()
	for _, n := range g.nodes {
		require.Eventually(g.t, func() bool { return n.whole(store) }, patient, 20*time.Millisecond, "node %d of group %s", n.id, g.name)
	}
}
