package chaos

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/chaos/member"
	"github.com/failaware/failaware/internal/chaos/oracle"
)

// restore prepares the disk of a node that was killed, and starts it, unless it has lost
// its disk.
func (r *runner) restore(k Kind, n *node) (err error) {
	if !n.process.Load().ended() || n.lost {
		return nil // another fault has started it
	}
	switch k {
	case Wipe:
		n.lost = true
		return nil
	case Tear:
		n.torn, err = n.remove(filepath.Join(member.StoreDir(n.disk.dir), "*-*"), r.Seed)
	case Halve:
		n.torn, err = n.remove(filepath.Join(n.disk.dir, "node-[ab]", "node-*.[es]*"), r.Seed)
		n.mustRefuse = n.torn != ""
	}
	if err != nil {
		return err
	}
	return r.start(n)
}

// wipe removes all files of a node.
func (n *node) wipe() error {
	return errors.Join(os.RemoveAll(member.NodeDir(n.disk.dir)), os.RemoveAll(member.EpochDir(n.disk.dir)), os.RemoveAll(member.StoreDir(n.disk.dir)))
}

// remove removes one of the files that match a pattern, and returns its path.
func (n *node) remove(pattern string, seed uint64) (string, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	slices.Sort(paths)
	path := paths[(seed+uint64(n.started))%uint64(len(paths))]
	return path, os.RemoveAll(path)
}

// startAll starts all nodes that are down, waits until each reports its status, and ends the
// change of the registers' quorums. A node that has lost its disk starts last, in an epoch of
// the others. It counts its incarnations from 1 again, so that in an earlier epoch its new
// votes would look older than its former ones.
func (r *runner) startAll(ctx context.Context) error {
	var lost []*node
	for _, n := range r.nodes[1:] {
		if err := r.startOne(n); err != nil {
			return err
		}
		if n.lost {
			lost = append(lost, n)
		}
	}
	if r.replacing || len(lost) > 0 {
		r.change(ctx, r.voters, r.all(0))
	}
	r.replacing = false
	for _, n := range lost {
		others := slices.DeleteFunc(slices.Clone(r.voters), func(id int) bool { return id == n.number })
		r.change(ctx, others, r.all(n.number))
		n.lost, n.joins = false, true
		if err := n.wipe(); err != nil {
			return err
		}
		r.write(oracle.Record{Kind: oracle.Wiped, Number: uint64(n.number), From: member.Now()})
		if err := r.start(n); err != nil {
			return err
		}
		if err := r.startOne(n); err != nil {
			return err
		}
		r.change(ctx, r.voters, r.all(0))
	}
	return nil
}

// startOne starts a node until it reports its status, or refuses to start.
func (r *runner) startOne(n *node) error {
	for n.process.Load().lastStatus() == nil && !n.lost {
		if n.process.Load().ended() {
			if r.noteEnd(n); n.lost {
				break
			}
			if err := r.start(n); err != nil {
				return err
			}
		}
		select {
		case <-n.process.Load().done:
		case <-time.After(5 * time.Millisecond):
		}
	}
	if n.mustRefuse && !n.lost {
		r.violated("a node without half of its state does not start", "node %d, process %d, without %s", n.number, n.started, n.torn)
	}
	n.torn, n.mustRefuse = "", false
	return nil
}

// noteEnd handles a process that ended by itself: a violation, unless the faults explain it.
func (r *runner) noteEnd(n *node) {
	why := n.process.Load().failure()
	switch {
	case why == "":
	case n.torn != "":
		n.lost = true
		r.result.Refusals++
		r.progress("node %d was refused: %s", n.number, why)
		if !strings.Contains(why, filepath.Dir(n.torn)) || n.mustRefuse && !strings.Contains(why, n.torn) {
			r.violated("an error names the file", "node %d, process %d, without %s: %s", n.number, n.started, n.torn, why)
		}
	case n.full && (strings.Contains(why, "cannot write the state") || strings.Contains(why, "cannot write the epoch")): // which the node must not forget
		r.progress("node %d, whose disk was full, ended: %s", n.number, why)
	default:
		r.violated("a node goes on", "node %d, process %d, ended by itself: %s", n.number, n.started, why)
	}
}
