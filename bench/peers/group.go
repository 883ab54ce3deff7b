package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/jsonlines"
)

// group is the processes of a system: at each node a child, and a daemon beside it if the
// system is one.
type group struct {
	sys   *system
	tight bool
	use   use
	net   *network
	dir   string
	log   logReader

	mu      sync.Mutex
	nodes   []*node
	news    int           // how many views were reported
	changes int           // how often a node saw another leader, or other members
	gaps    int           // how often a node saw none for a while
	changed chan struct{} // closed at the next report
}

// node is a member of the group.
type node struct {
	id     int
	dir    string
	daemon *process
	child  *process
	view   view
	fatal  string
	said   string // the last line of the daemon

	leader, members string // the last ones that it saw
}

// process is a running process. A child takes commands.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	put  *jsonlines.Writer
	over chan struct{} // closed when it has ended

	answers jsonlines.Answers[report]
}

// startGroup starts a group, and waits for it to be whole.
func startGroup(sys *system, tight bool, u use, n *network, dir string, nodes int) (*group, error) {
	g := &group{sys: sys, tight: tight, use: u, net: n, changed: make(chan struct{})}
	var err error
	if g.dir, err = os.MkdirTemp(dir, "peers-*"); err != nil {
		return nil, err
	}
	if sys.newLog != nil {
		g.log = sys.newLog()
	}
	for id := 1; id <= nodes; id++ {
		g.nodes = append(g.nodes, &node{id: id, dir: filepath.Join(g.dir, fmt.Sprint(id))})
	}
	for id := 1; id <= nodes && err == nil; id++ {
		if err = os.Mkdir(g.nodes[id-1].dir, 0o700); err == nil {
			err = errors.Join(g.startDaemon(id), g.startChild(id))
		}
	}
	if err == nil {
		err = g.untilWhole()
	}
	if err != nil {
		g.stop()
		return nil, fmt.Errorf("%s: %w", sys.name, err)
	}
	return g, nil
}

func (g *group) count() int { return len(g.nodes) }

// start starts a command where a node lives. It ends with this process.
func (g *group) start(id int, args []string, out func(io.Reader), errs func(io.Reader)) (*process, error) {
	p := &process{cmd: g.net.command(id, args...), over: make(chan struct{})}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var stdout, stderr io.ReadCloser
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if stderr, err = p.cmd.StderrPipe(); err != nil {
		return nil, err
	}
	if err = p.cmd.Start(); err != nil {
		return nil, err
	}
	p.put = jsonlines.NewWriter(p.in)
	var read sync.WaitGroup
	read.Go(func() { out(stdout) })
	read.Go(func() { errs(stderr) })
	go func() {
		read.Wait()
		_ = p.cmd.Wait() // its end was requested, or its last report says why
		close(p.over)
	}()
	return p, nil
}

func (g *group) startDaemon(id int) error {
	if g.sys.daemon == nil {
		return nil
	}
	args, err := g.sys.daemon(g, id)
	if err != nil {
		return err
	}
	read := func(r io.Reader) {
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			g.mu.Lock()
			g.nodes[id-1].said = strings.TrimSpace(line)
			g.mu.Unlock()
			if g.log == nil {
				continue
			}
			if leader, ok := g.log.read(id, line); ok {
				g.saw(id, func(v *view) { v.Leader = leader })
			}
		}
	}
	g.nodes[id-1].daemon, err = g.start(id, args, read, read)
	return err
}

func (g *group) startChild(id int) error {
	n := g.nodes[id-1]
	var p *process
	ready := make(chan struct{})
	p, err := g.start(id, []string{self(), "member"}, func(r io.Reader) { <-ready; g.read(n, p, r) },
		func(r io.Reader) { _, _ = io.Copy(os.Stderr, r) })
	if err != nil {
		return err
	}
	n.child = p
	close(ready)
	j := job{System: g.sys.name, Tight: g.tight, Use: g.use, ID: id, Dir: n.dir}
	for i := range g.nodes {
		j.Hosts = append(j.Hosts, g.net.host(i+1))
	}
	p.put.Put(j)
	return nil
}

// read takes reports until the child ends.
func (g *group) read(n *node, p *process, r io.Reader) {
	dec := json.NewDecoder(r)
	for {
		var got report
		if dec.Decode(&got) != nil {
			return
		}
		switch {
		case got.View != nil:
			g.saw(n.id, func(v *view) {
				leader := v.Leader
				*v = *got.View
				if g.log != nil {
					v.Leader = leader
				}
			})
		case got.Fatal != "":
			g.mu.Lock()
			n.fatal = got.Fatal
			g.mu.Unlock()
			g.saw(n.id, func(*view) {})
		default:
			p.answers.Take(got.Number, got)
		}
	}
}

// saw changes what a node knows.
func (g *group) saw(id int, change func(*view)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[id-1]
	before := n.view
	n.view.At = now()
	change(&n.view)
	g.news++
	g.tell(before.Leader != 0 && n.view.Leader == 0, n.view.Leader != 0, fmt.Sprint(n.view.Leader), &n.leader)
	g.tell(len(before.Members) > 0 && len(n.view.Members) == 0, len(n.view.Members) > 0, fmt.Sprint(n.view.Members), &n.members)
	close(g.changed)
	g.changed = make(chan struct{})
}

// tell counts a change of what a node sees.
func (g *group) tell(lost, has bool, is string, was *string) {
	if lost {
		g.gaps++
	}
	if has && is != *was {
		*was = is
		g.changes++
	}
}

var errPatience = errors.New("not in time")

// wait waits until cond holds, which is evaluated under the lock after every report.
func (g *group) wait(patience time.Duration, cond func() bool) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		g.mu.Lock()
		ok, changed := cond(), g.changed
		for _, n := range g.nodes {
			if n.fatal != "" {
				g.mu.Unlock()
				return fmt.Errorf("node %d: %s", n.id, n.fatal)
			}
		}
		g.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return errPatience
		}
	}
}

// agreed says, under the lock, whether all nodes except one know one leader, which is not
// that one, and a view without it.
func (g *group) agreed(without int) (leader, views bool) {
	leader, views = true, true
	first := g.nodes[0]
	if first.id == without {
		first = g.nodes[1]
	}
	for _, n := range g.nodes {
		if n.id == without {
			continue
		}
		leader = leader && n.view.Leader != 0 && n.view.Leader != without && n.view.Leader == first.view.Leader
		most := len(g.nodes)
		if without != 0 {
			most--
		}
		views = views && len(n.view.Members) == most && !slices.Contains(n.view.Members, without)
	}
	return leader, views
}

// whole says, under the lock, whether all nodes agree on what the system has.
func (g *group) whole() bool {
	leader, views := g.agreed(0)
	return (leader || !g.sys.leads) && (views || !g.sys.views && g.sys.readies != g.use)
}

const (
	// wholeWait is how long a group may take to agree, and settleWait how long without one
	// of its members.
	wholeWait  = 60 * time.Second
	settleWait = 30 * time.Second
)

// latest returns, under the lock, when a node but one has learnt something last.
func (g *group) latest(without int) (at int64) {
	for _, n := range g.nodes {
		if n.id != without {
			at = max(at, n.view.At)
		}
	}
	return at
}

// untilWhole waits for the group to be whole, and to stay so for a while.
func (g *group) untilWhole() error {
	const calm = 300 * time.Millisecond
	for {
		if err := g.wait(wholeWait, g.whole); err != nil {
			return fmt.Errorf("the nodes did not agree: %w: %s", err, g.describe())
		}
		g.mu.Lock()
		news := g.news
		g.mu.Unlock()
		if err := g.wait(calm, func() bool { return g.news != news }); err != nil && !errors.Is(err, errPatience) {
			return err
		} else if err != nil {
			return nil
		}
	}
}

func (g *group) describe() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	text := ""
	for _, n := range g.nodes {
		text += fmt.Sprintf("node %d: leader %d, members %v", n.id, n.view.Leader, n.view.Members)
		if n.said != "" {
			text += ", printed last: " + n.said
		}
		text += "; "
	}
	return strings.TrimSuffix(text, "; ")
}

// leader returns the node that leads, or 1 if the system has no leaders.
func (g *group) leader() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(g.nodes[0].view.Leader, 1)
}

// victim is the process that is the member: the daemon if there is one.
func (n *node) victim() *process {
	if n.daemon != nil {
		return n.daemon
	}
	return n.child
}

// crash kills a member, and returns the instant just before.
func (g *group) crash(id int) int64 {
	p := g.nodes[id-1].victim()
	at := now()
	_ = p.cmd.Process.Kill()
	return at
}

// restart starts a crashed member again.
func (g *group) restart(id int) error {
	n := g.nodes[id-1]
	<-n.victim().over
	g.saw(id, func(v *view) { *v = view{} })
	if n.daemon != nil {
		return g.startDaemon(id)
	}
	return g.startChild(id)
}

// ask sends a command to a child, and returns a function that waits for the answer.
func (p *process) ask(c command, patience time.Duration) func() (report, error) {
	number, answer := p.answers.Expect()
	c.Number = number
	p.put.Put(c)
	return func() (report, error) {
		select {
		case r := <-answer:
			if r.Err != "" {
				return r, errors.New(r.Err)
			}
			return r, nil
		case <-p.over:
			return report{}, errors.New("a child process ended")
		case <-time.After(patience):
			return report{}, fmt.Errorf("a child did not answer %q", c.Do)
		}
	}
}

// askAll sends all children a command, and returns their answers.
func (g *group) askAll(make func(id int) command, patience time.Duration) (all []report, err error) {
	var waits []func() (report, error)
	for _, n := range g.nodes {
		waits = append(waits, n.child.ask(make(n.id), patience))
	}
	for _, wait := range waits {
		r, failed := wait()
		all, err = append(all, r), errors.Join(err, failed)
	}
	return all, err
}

// stop ends all processes.
func (g *group) stop() {
	for _, n := range g.nodes {
		for _, p := range []*process{n.child, n.daemon} {
			if p != nil {
				_ = p.cmd.Process.Kill()
				<-p.over
			}
		}
	}
	_ = os.RemoveAll(g.dir) // it is temporary
}
