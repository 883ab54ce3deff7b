package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/chaos/member"
	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/timed"
)

// Beside measures how long two nodes believe to lead after faults, for the global leader of
// this library and for elections of etcd, with the same faults in the same namespaces.
func Beside(ctx context.Context, o BesideOptions) (*BesideResult, error) {
	if why := Missing(); why != "" {
		return nil, errors.New("chaos: " + why)
	}
	out := &BesideResult{}
	if err := besideOurs(ctx, &o, out); err != nil {
		return nil, err
	}
	return out, besideEtcd(ctx, &o, out)
}

// ourFault is how long the faults for our own nodes last.
const ourFault = 2 * time.Second

// fault is a fault of the leader that has happened.
type fault struct {
	kind   Kind
	leader int
	begin  int64
}

// besideOurs stops and cuts off leaders of this library.
func besideOurs(ctx context.Context, o *BesideOptions, out *BesideResult) error {
	timing, err := timed.Preset(o.Preset)
	if err != nil {
		return err
	}
	bounds, err := timing.Validate()
	if err != nil {
		return err
	}
	r := &runner{Options: o.Options, timing: timing, bounds: bounds, nodes: make([]*node, o.Nodes+1), changed: make(chan struct{}, 1), result: &Result{}}
	var faults []fault
	err = r.setUp()
	if err == nil {
		err = r.heal(ctx)
	}
	for i := 0; i < 2*o.Trials && err == nil; i++ {
		var f fault
		f, err = r.leaderFault(ctx, []Kind{Stop, Cut}[i%2])
		faults = append(faults, f)
	}
	r.tearDown()
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	h, err := oracle.Load(r.logs())
	if err != nil {
		return err
	}
	both := h.LongestOverlap(member.GroupA)
	for _, f := range faults {
		next := h.NextLeader(member.GroupA, f.leader, f.begin)
		if next == 0 {
			return fmt.Errorf("chaos: nobody led after node %d", f.leader)
		}
		out.add("failaware, timing "+o.Preset, f.kind, next-f.begin, both)
	}
	return nil
}

// leaderFault has a fault happen to the node that leads globally.
func (r *runner) leaderFault(ctx context.Context, k Kind) (f fault, err error) {
	s := r.nodes[1].process.Load().sees()
	if s == nil || s.Global == 0 {
		return f, errors.New("chaos: nobody leads globally")
	}
	g := &Fault{Kind: k, Nodes: []int{s.Global}}
	for i := 1; i <= r.Nodes; i++ {
		if i != s.Global {
			g.Peers = append(g.Peers, i)
		}
	}
	f = fault{kind: k, leader: s.Global, begin: member.Now()}
	if err := r.begin(g); err != nil {
		return f, err
	}
	time.Sleep(ourFault)
	if err := r.end(g); err != nil {
		return f, err
	}
	return f, r.heal(ctx)
}

// etcdFault is how long the faults for etcd last: longer than its sessions, whose time to
// live etcdctl leaves at 60 s.
const etcdFault = 75 * time.Second

// besideEtcd stops the programs that lead elections, and cuts off their machine.
func besideEtcd(ctx context.Context, o *BesideOptions, out *BesideResult) (err error) {
	for _, k := range []Kind{Stop, Cut} {
		if err := etcdTrial(ctx, o, k, out); err != nil {
			return fmt.Errorf("chaos: etcd: %w", err)
		}
	}
	return nil
}

// etcdTrial runs one group of etcd with several elections, all of which node 1 wins, and has
// a fault happen to node 1.
func etcdTrial(ctx context.Context, o *BesideOptions, k Kind, out *BesideResult) (err error) {
	dir, err := os.MkdirTemp("", "failaware-etcd-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	h, err := newHosts(3)
	defer h.remove()
	if err != nil {
		return err
	}
	w := &network{hosts: h, rules: map[int]string{}, bent: map[[2]int]bool{}}
	g := &etcdGroup{o: o, hosts: h, dir: dir}
	defer g.close()
	if err := g.start(ctx); err != nil {
		return err
	}
	f := &Fault{Kind: k, Nodes: []int{1}, Peers: []int{2, 3}}
	begin := member.Now()
	if k == Stop {
		g.signal(1, syscall.SIGSTOP)
	} else if err := w.begin(f); err != nil {
		return err
	}
	o.progress("etcd: %s for %v", k, etcdFault)
	select {
	case <-time.After(etcdFault):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	end := member.Now()
	if k == Stop {
		g.signal(1, syscall.SIGCONT)
	} else if err := w.end(f); err != nil {
		return err
	}
	for i := range o.Trials {
		next, both, err := g.belief(i, k, end)
		if err != nil {
			return err
		}
		out.add("etcd "+g.version+", etcdctl elect", k, next-begin, both)
	}
	return nil
}

func (o *BesideOptions) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

// program returns the path of a program of etcd.
func (o *BesideOptions) program(name string) string { return filepath.Join(o.Programs, name) }
