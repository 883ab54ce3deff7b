package chaos

import (
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
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
	case Kill, KillAll, Wipe, Tear, Halve:
		for _, n := range r.nodesOf(f) {
			r.kill(n)
		}
	case Rewind:
		return copyStores(r.nodesOf(f))
	case Starve:
		return r.starve(f)
	case Full:
		for _, n := range r.nodesOf(f) {
			n.full = true
			if err := n.disk.fill(); err != nil {
				return err
			}
		}
	case Freeze:
		return freeze(r.nodesOf(f))
	case Doom:
		return freeze(r.others(f))
	case Rotate:
		r.keys.rotate(r)
	case Epoch:
		r.voters, r.replacing = f.Nodes, true
		r.replacements.Go(func() { r.replace(f) })
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
		for _, n := range r.nodesOf(f) {
			if err := n.disk.empty(); err != nil {
				return err
			}
		}
	case Freeze:
		thaw(r.nodesOf(f))
	case Doom:
		r.doom(f)
	case Rewind:
		return r.rewind(r.nodesOf(f))
	case Kill, KillAll, Wipe, Tear, Halve:
		for _, n := range r.nodesOf(f) {
			if err := r.restore(f.Kind, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodesOf returns the nodes of a fault: all nodes if it names none.
func (r *runner) nodesOf(f *Fault) (list []*node) {
	if len(f.Nodes) == 0 {
		return r.nodes[1:]
	}
	for _, number := range f.Nodes {
		list = append(list, r.nodes[number])
	}
	return list
}

// others returns the nodes that are not those of a fault.
func (r *runner) others(f *Fault) (list []*node) {
	for _, n := range r.nodes[1:] {
		if !slices.Contains(f.Nodes, n.number) {
			list = append(list, n)
		}
	}
	return list
}

func freeze(nodes []*node) error {
	for _, n := range nodes {
		if err := n.disk.freeze(); err != nil {
			return err
		}
	}
	return nil
}

func thaw(nodes []*node) {
	for _, n := range nodes {
		n.disk.thaw()
	}
}

// doom kills all nodes while only those of the fault can write, and these lose their disks.
// Operations that only they had written are gone, and must not have been acknowledged. The
// others start when the group heals.
func (r *runner) doom(f *Fault) {
	var killed sync.WaitGroup
	for _, n := range r.nodes[1:] {
		killed.Go(func() { r.kill(n) })
	}
	killed.Wait()
	thaw(r.others(f))
	for _, n := range r.nodesOf(f) {
		n.lost = true
	}
}

// kill kills the process of a node, if it runs.
func (r *runner) kill(n *node) {
	if !n.process.Load().ended() {
		n.process.Load().kill()
	} else {
		r.noteEnd(n)
	}
}

// signal sends a signal to the processes of a fault.
func (r *runner) signal(f *Fault, s syscall.Signal) {
	for _, n := range r.nodesOf(f) {
		n.process.Load().signal(s)
	}
}

// storm stops processes again and again, every third time for longer than a lease.
func (r *runner) storm(f *Fault) {
	var processes []*process
	for _, n := range r.nodesOf(f) {
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

// starve runs a program that computes on all processors.
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
