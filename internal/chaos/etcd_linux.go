package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/chaos/member"
)

// etcdGroup is three servers of etcd, and candidates of some elections at each.
type etcdGroup struct {
	o       *BesideOptions
	hosts   *hosts
	dir     string
	version string
	servers []*exec.Cmd
	rivals  []*rival // of election i at node n: 3i + n − 1
}

// rival is a candidate: the program etcdctl elect. It believes to lead from when it says so
// until it ends, because its session has.
type rival struct {
	cmd   *exec.Cmd
	over  chan struct{}
	mu    sync.Mutex
	leads int64 // since
	ended int64
}

// etcdWait is how long the group may take to do what it must before the faults.
const etcdWait = time.Minute

func (g *etcdGroup) start(ctx context.Context) error {
	text, err := exec.Command(g.o.program("etcd"), "--version").Output()
	if err != nil {
		return err
	}
	g.version = strings.TrimSpace(strings.TrimPrefix(strings.SplitN(string(text), "\n", 2)[0], "etcd Version:"))
	var cluster []string
	for node := 1; node <= 3; node++ {
		cluster = append(cluster, fmt.Sprintf("n%d=http://%s:2380", node, g.hosts.addr(node)))
	}
	for node := 1; node <= 3; node++ {
		peer, client := fmt.Sprintf("http://%s:2380", g.hosts.addr(node)), fmt.Sprintf("http://%s:2379", g.hosts.addr(node))
		cmd := g.hosts.command(node, g.o.program("etcd"), "--name", fmt.Sprintf("n%d", node), "--data-dir", filepath.Join(g.dir, fmt.Sprint(node)),
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--listen-client-urls", client, "--advertise-client-urls", client,
			"--initial-cluster", strings.Join(cluster, ","), "--logger", "zap", "--log-level", "error", "--log-outputs", "stderr")
		if err := cmd.Start(); err != nil {
			return err
		}
		g.servers = append(g.servers, cmd)
	}
	for i := range g.o.Trials {
		for node := 1; node <= 3; node++ {
			r, err := g.elect(i, node)
			if err != nil {
				return err
			}
			g.rivals = append(g.rivals, r)
			if node > 1 {
				continue
			}
			if err := r.await(ctx); err != nil {
				return fmt.Errorf("election %d: %w", i, err)
			}
		}
	}
	time.Sleep(2 * time.Second) // all candidates wait in line
	return nil
}

// elect starts a candidate.
func (g *etcdGroup) elect(election, node int) (*rival, error) {
	cmd := g.hosts.command(node, g.o.program("etcdctl"), "--endpoints", fmt.Sprintf("http://%s:2379", g.hosts.addr(node)),
		"--dial-timeout", "20s", "elect", fmt.Sprintf("e%d", election), fmt.Sprintf("node-%d", node))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &rival{cmd: cmd, over: make(chan struct{})}
	go func() {
		in := bufio.NewScanner(out)
		for in.Scan() {
			r.mu.Lock()
			if r.leads == 0 { // the first line is the key of the winner
				r.leads = member.Now()
			}
			r.mu.Unlock()
		}
		_ = cmd.Wait() // it ends with an error when its session has ended
		r.mu.Lock()
		r.ended = member.Now()
		r.mu.Unlock()
		close(r.over)
	}()
	return r, nil
}

func (r *rival) times() (leads, ended int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leads, r.ended
}

// await waits until the candidate leads.
func (r *rival) await(ctx context.Context) error {
	for limit := time.Now().Add(etcdWait); ; time.Sleep(10 * time.Millisecond) {
		leads, ended := r.times()
		switch {
		case leads != 0:
			return nil
		case ended != 0, time.Now().After(limit):
			return errors.New("the first candidate does not lead")
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// signal sends a signal to all candidates of a node.
func (g *etcdGroup) signal(node int, s syscall.Signal) {
	for i := node - 1; i < len(g.rivals); i += 3 {
		_ = g.rivals[i].cmd.Process.Signal(s) // one that has ended hears nothing
	}
}

// belief returns when another candidate of an election won, and for how long it and the
// first one both ran and believed to lead. A program that is stopped, until end, believes
// nothing.
func (g *etcdGroup) belief(election int, k Kind, end int64) (next int64, both time.Duration, err error) {
	first, others := g.rivals[3*election], g.rivals[3*election+1:3*election+3]
	select {
	case <-first.over:
	case <-time.After(etcdWait):
		return 0, 0, errors.New("the first candidate still believes to lead")
	}
	_, ended := first.times()
	for _, r := range others {
		if leads, _ := r.times(); leads != 0 && (next == 0 || leads < next) {
			next = leads
		}
	}
	if next == 0 {
		return 0, 0, errors.New("no other candidate has won")
	}
	from := next
	if k == Stop {
		from = max(from, end)
	}
	return next, time.Duration(max(ended-from, 0)), nil
}

func (g *etcdGroup) close() {
	for _, r := range g.rivals {
		_ = r.cmd.Process.Kill()
		<-r.over
	}
	for _, s := range g.servers {
		_ = s.Process.Kill()
		_ = s.Wait()
	}
}
