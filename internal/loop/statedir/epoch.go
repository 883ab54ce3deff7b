package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
)

// epochKind is the kind of record of the file that says which epoch a node is in, behind the
// counters that the state file had by then. That of former releases has no counters.
var (
	epochKind       = durable.Kind{Name: "node-epoch", Version: 2}
	formerEpochKind = durable.Kind{Name: "node-epoch", Version: 1}
)

func (d *Dir) epochPath() string {
	return filepath.Join(filepath.Dir(d.path), fmt.Sprintf("node-%v.epoch", d.id))
}

// Configured is the configuration of quorum systems. It counts until the state
// directory knows an epoch.
type Configured struct {
	Quorum quorum.System // nil: none
	Epoch  uint64        // of Quorum
	Join   bool          // the node begins without an epoch, and learns that of the group
}

// ReadEpoch returns the node's epoch as the directory has it. Without a file it is the
// configured one, which [Dir.Begin] writes down: another Quorum must not count at the
// next start. It returns nil if there is no quorum system, or on nil. The error matches
// [ErrDamaged], or is the system's.
func (d *Dir) ReadEpoch(c Configured) (*epoch.State, error) {
	if d == nil {
		return nil, nil
	}
	s, _, err := d.epochFile()
	if errors.Is(err, fs.ErrNotExist) {
		return d.firstEpoch(c)
	}
	if err != nil {
		return nil, readError(err, replaceNode)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.beginWith(s)
	return &s, d.checkAge(&s)
}

// epochFile returns the content of the file of the epoch.
func (d *Dir) epochFile() (s epoch.State, has counters, err error) {
	b, err := durable.Read(d.epochPath(), epochKind)
	if err == nil {
		has, b, err = parseCounters(b)
	} else if former, wrong := durable.Read(d.epochPath(), formerEpochKind); wrong == nil {
		b, err = former, nil
	} else {
		return s, has, err
	}
	if err == nil {
		s, err = epoch.Decode(b)
	}
	if err == nil {
		err = stack.CheckEpoch(&s)
	}
	if err != nil {
		err = &durable.DamagedError{Path: d.epochPath(), What: err.Error()}
	}
	return s, has, err
}

// checkCounters returns an error if the state file is older than the file of the epoch says. A
// node that went on with it would number its incarnations and views as it did before, and
// other nodes could not tell which of its votes is the later one. Nothing is written before:
// the counters would grow with each attempt, up to those that are missing. Of a file that
// cannot be read, ReadEpoch returns the error.
func (d *Dir) checkCounters(r *record) error {
	_, has, err := d.epochFile()
	if have := r.counters(); err == nil && !have.reach(has) {
		return fmt.Errorf("%w: %s is older than %s: it has %v, and %v were written; %s", ErrDamaged, d.path, d.epochPath(), have, has, bothLatest)
	}
	return nil
}

// bothLatest is the remedy if one of the two files is older than the other one says.
const bothLatest = "restore both from the same time and the latest. " +
	"If that is impossible, remove both, and let the node come back with JoinQuorum, and under a new id or in a later epoch"

// checkAge returns an error if the file of the epoch is older than the state file says. A
// node that went on with it would have forgotten that it stopped voting in an epoch. It
// may be newer: a crash came before the state file was written, or that is of a former
// format. The caller holds mu.
func (d *Dir) checkAge(s *epoch.State) error {
	if have := progressOf(s); have.before(d.stored.Least) {
		return fmt.Errorf("%w: %s is older than %s: it has %v, and %v was written; %s", ErrDamaged, d.epochPath(), d.path, have, d.stored.Least, bothLatest)
	}
	return nil
}

func (d *Dir) firstEpoch(c Configured) (*epoch.State, error) {
	switch {
	case c.Join:
		return &epoch.State{}, nil
	case c.Quorum == nil:
		return nil, nil
	}
	s := epoch.State{Epoch: c.Epoch, System: c.Quorum.String()}
	if err := stack.CheckEpoch(&s); err != nil {
		return nil, fmt.Errorf("failaware: Quorum: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.beginWith(s)
	return &s, nil
}

// beginWith has Begin write an epoch. The caller holds mu.
func (d *Dir) beginWith(s epoch.State) { d.begins = &s }

// WriteEpoch writes down what the node knows of its epoch, and returns when that is
// on the disk. The state file says from then on that it was. After an error that matches
// [ErrFull] it may be called again.
func (d *Dir) WriteEpoch(s *epoch.State) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock == nil {
		return errClosed
	}
	if !d.begun {
		d.beginWith(*s)
		return nil
	}
	return d.putEpoch(s)
}

// putEpoch writes both files. The caller holds mu.
func (d *Dir) putEpoch(s *epoch.State) error {
	if err := d.writeEpoch(epoch.Append(nil, s), d.stored.counters()); err != nil {
		return err
	}
	return d.noteEpoch(s)
}

// writeEpoch writes an encoded epoch, behind the counters of the state file. The caller holds
// mu.
func (d *Dir) writeEpoch(encoded []byte, c counters) error {
	if err := d.replace(d.epochPath(), epochKind, append(c.encode(), encoded...)); err != nil {
		return fmt.Errorf("failaware: cannot write the epoch: %w", err)
	}
	d.epoch = encoded
	return nil
}

// noteEpoch writes down in the state file how far the file of the epoch is. The caller holds
// mu.
func (d *Dir) noteEpoch(s *epoch.State) error {
	has := progressOf(s)
	if d.stored.HasEpoch && !d.stored.Least.before(has) {
		return nil
	}
	next := d.stored
	next.HasEpoch, next.Least = true, has
	return d.write(next)
}
