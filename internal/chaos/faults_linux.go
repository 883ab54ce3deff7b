package chaos

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/chaos/member"
)

// begin begins a fault.
func (r *runner) begin(f *Fault) error {
	switch f.Kind {
	case Cut, OneWay, Loss, Forbid, Bend:
		return r.net.begin(f)
	case Stop:
		r.signal(f, syscall.SIGSTOP)
	case Storm:
		r.storms.Go(func() { r.storm(f) })
	case Kill, KillAll, Wipe, Tear:
		for _, n := range r.of(f) {
			r.kill(n)
		}
	case Starve:
		return r.starve(f)
	case Full:
		for _, n := range r.of(f) {
			n.full = true
			if err := n.disk.fill(); err != nil {
				return err
			}
		}
	case Rotate:
		r.keys.rotate(r)
	}
	return nil
}

// end ends a fault.
func (r *runner) end(f *Fault) error {
	switch f.Kind {
	case Cut, OneWay, Loss, Forbid, Bend:
		return r.net.end(f)
	case Stop:
		r.signal(f, syscall.SIGCONT)
	case Full:
		for _, n := range r.of(f) {
			if err := n.disk.empty(); err != nil {
				return err
			}
		}
	case Kill, KillAll, Wipe, Tear:
		for _, n := range r.of(f) {
			if err := r.restore(f.Kind, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// of returns the nodes of a fault; none are all.
func (r *runner) of(f *Fault) (list []*node) {
	if len(f.Nodes) == 0 {
		return r.nodes[1:]
	}
	for _, number := range f.Nodes {
		list = append(list, r.nodes[number])
	}
	return list
}

// kill kills the process of a node, if it runs.
func (r *runner) kill(n *node) {
	if !n.process.Load().ended() {
		n.process.Load().kill()
	} else {
		r.explain(n)
	}
}

// signal sends a signal to the processes of a fault.
func (r *runner) signal(f *Fault, s syscall.Signal) {
	for _, n := range r.of(f) {
		n.process.Load().signal(s)
	}
}

// storm stops processes again and again, for longer than a lease each third time.
func (r *runner) storm(f *Fault) {
	var processes []*process
	for _, n := range r.of(f) {
		processes = append(processes, n.process.Load())
	}
	for i, end := 0, time.Now().Add(f.For-50*time.Millisecond); time.Now().Before(end); i++ {
		for _, p := range processes {
			p.signal(syscall.SIGSTOP)
		}
		pause := r.timing.Expires / 4
		if i%3 == 0 {
			pause = 2 * r.timing.LockTime
		}
		time.Sleep(min(pause, time.Until(end)))
		for _, p := range processes {
			p.signal(syscall.SIGCONT)
		}
		time.Sleep(r.timing.ElectionPeriod)
	}
}

// starve has other programs compute on all processors.
func (r *runner) starve(f *Fault) error {
	hog := r.Hog()
	hog.Args = append(hog.Args, strconv.FormatInt(f.For.Milliseconds(), 10))
	cmd := exec.Command(hog.Path, hog.Args[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it ends by itself
	return nil
}

// restore prepares the disk of a node that was killed, and starts it.
func (r *runner) restore(k Kind, n *node) error {
	if !n.process.Load().ended() {
		return nil // another fault has started it
	}
	switch k {
	case Wipe:
		if err := n.wipe(); err != nil {
			return err
		}
	case Tear:
		if err := n.tear(r.Seed); err != nil {
			return err
		}
	}
	return r.start(n)
}

// wipe removes all that a node has on its disk.
func (n *node) wipe() error {
	return errors.Join(os.RemoveAll(member.NodeDir(n.disk.dir)), os.RemoveAll(member.StoreDir(n.disk.dir)))
}

// tear removes one of the files of the registers: a log or a snapshot.
func (n *node) tear(seed uint64) error {
	paths, err := filepath.Glob(filepath.Join(member.StoreDir(n.disk.dir), "*-*"))
	if err != nil || len(paths) == 0 {
		return err
	}
	sort.Strings(paths)
	n.torn = true
	return os.RemoveAll(paths[(seed+uint64(n.started))%uint64(len(paths))])
}

// startAll starts all nodes that are down, and waits until each sees its groups. A node
// that is refused because a file is missing begins with an empty disk.
func (r *runner) startAll() error {
	for _, n := range r.nodes[1:] {
		for n.process.Load().sees() == nil {
			if n.process.Load().ended() {
				r.explain(n)
				if n.torn {
					r.result.Refusals++
					n.torn = false
					if err := n.wipe(); err != nil {
						return err
					}
				}
				if err := r.start(n); err != nil {
					return err
				}
			}
			select {
			case <-n.process.Load().over:
			case <-time.After(5 * time.Millisecond):
			}
		}
		n.torn = false
	}
	return nil
}

// explain notes why a process ended by itself, unless the faults explain it.
func (r *runner) explain(n *node) {
	why := n.process.Load().why()
	if why == "" || n.torn {
		return
	}
	if n.full && strings.Contains(why, "cannot write the state") { // of the node, which it must not forget
		r.progress("node %d, whose disk was full, ended: %s", n.number, why)
		return
	}
	r.harmed("a node goes on", "node %d, process %d, ended by itself: %s", n.number, n.started, why)
}
