package failaware

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/epoch"
)

// epochKind is the kind of record of the file that says which epoch a node is in.
var epochKind = durable.Kind{Name: "node-epoch", Version: 1}

func (f *stateFiles) epochPath() string {
	return filepath.Join(filepath.Dir(f.path), fmt.Sprintf("node-%v.epoch", f.id))
}

// readEpoch returns what the state directory says of the node's epoch. Without a
// file it is what the configuration says, which is written at the first change;
// nil if there is no quorum system, or no state directory.
func (f *stateFiles) readEpoch(c *Config) (*epoch.State, error) {
	if f == nil {
		return nil, nil
	}
	b, err := durable.Read(f.epochPath(), epochKind)
	if errors.Is(err, fs.ErrNotExist) {
		switch {
		case c.JoinQuorum:
			return &epoch.State{}, nil
		case c.Quorum == nil:
			return nil, nil
		}
		s := epoch.State{Epoch: c.QuorumEpoch, System: c.Quorum.String()}
		if err := stack.CheckEpoch(&s); err != nil {
			return nil, fmt.Errorf("failaware: Quorum: %w", err)
		}
		// Now, or else another Quorum in the configuration would count at the next
		// start.
		return &s, f.writeEpoch(&s)
	}
	var s epoch.State
	if err == nil {
		if s, err = epoch.Decode(b); err == nil {
			err = stack.CheckEpoch(&s)
		}
		if err != nil {
			err = &durable.DamagedError{Path: f.epochPath(), What: err.Error()}
		}
	}
	if _, damaged := errors.AsType[*durable.DamagedError](err); damaged {
		return nil, fmt.Errorf("%w: %w; a node that has lost it comes back with JoinQuorum, and under a new id or in a later epoch", ErrDamaged, err)
	}
	if err != nil {
		return nil, fmt.Errorf("failaware: the state directory: %w", err)
	}
	return &s, nil
}

// writeEpoch writes down what the node knows of its epoch; it returns when that is
// on the disk.
func (f *stateFiles) writeEpoch(s *epoch.State) error {
	if err := durable.Write(f.epochPath(), epochKind, epoch.Append(nil, s)); err != nil {
		return fmt.Errorf("failaware: cannot write the epoch: %w", err)
	}
	return nil
}

// warnQuorum says so if the configuration names another quorum system than the one
// in use: it changes nothing.
func (n *Node) warnQuorum(s *epoch.State) {
	if c := n.cfg.Quorum; s != nil && c != nil && s.System != "" && c.String() != s.System {
		n.hub.add(QuorumChange{n.hub.header(), QuorumIgnored, s.Epoch, s.System, NoNode})
	}
}

// persist performs the stack's wish to write. It reports whether that has
// succeeded; if not, the node has stopped, and says nothing more.
func (d *driver) persist(s *epoch.State) bool {
	if err := d.n.files.writeEpoch(s); err != nil {
		d.unwritten = true
		d.fail(err)
		return false
	}
	d.cfg.Epochs = s
	return true
}
