package keep

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/replica"
)

// leastLog is the default of Options.Least.
const leastLog = 16 << 20

// Open gives an application in its initial state the state of a journal, and returns the steps
// that the owner performs first. Its error is one of the journal, which names a file, or of
// the application.
func Open(j *journal.Journal, app Application, o Options) (*Keeper, []Step, error) {
	if o.Least == 0 {
		o.Least = leastLog
	}
	k := &Keeper{journal: j, app: app, named: true, number: j.Last(), least: o.Least}
	k.written(0)
	snapshot, err := k.restore()
	if err == nil {
		err = k.replay()
	}
	if err == nil {
		err = k.confirm(snapshot)
	}
	if err != nil {
		return nil, nil, err
	}
	return k, k.steps, nil
}

// confirm logs the place behind a snapshot that nothing follows, as Locate does, because a
// process may have ended in between. If the disk is full, the record waits like any other.
func (k *Keeper) confirm(snapshot uint64) error {
	if snapshot == 0 || k.number > snapshot {
		return nil
	}
	var b journal.Batch
	record := appendPlace(nil, &k.place)
	b.Add(record)
	err := k.journal.Append(&b)
	if errors.Is(err, journal.ErrFull) {
		k.log(record, replica.Point{})
		return nil
	}
	k.number = k.journal.Last()
	return err
}

// restore gives the application the state of the snapshot, if there is one, and returns the
// last record that it stands for.
func (k *Keeper) restore() (number uint64, err error) {
	number, file, err := k.journal.Snapshot()
	if file == nil || err != nil {
		return 0, err
	}
	whole := counted{w: io.Discard}
	r := io.TeeReader(file, &whole)
	var size [4]byte
	if _, err = io.ReadFull(r, size[:]); err == nil {
		b := make([]byte, min(binary.BigEndian.Uint32(size[:]), 1<<20))
		if _, err = io.ReadFull(r, b); err == nil {
			k.place, _, err = replica.ParsePlace(b)
		}
	}
	if err == nil {
		err = k.app.Load(r)
	}
	// This checks what the application did not read. The application need not pass on why it could
	// not read either.
	if _, fault := io.Copy(io.Discard, r); fault != nil {
		err = fault
	}
	k.written(whole.n)
	return number, errors.Join(err, file.Close())
}

// replay has the application apply the operations since the snapshot. A replacement without
// its snapshot did not come about if it is the last record: the state before counts, and
// the next place replaces it. Records behind it continue a state whose snapshot is lost.
func (k *Keeper) replay() error {
	return k.journal.Replay(func(number uint64, record []byte) error {
		switch {
		case len(record) == 0:
			return errRecord
		case record[0] == recordReplaced:
			k.named = false
			return nil
		case !k.named:
			return k.journal.MissingSnapshot(number - 1)
		case record[0] == recordPlace:
			p, rest, err := replica.ParsePlace(record[1:])
			if k.place = p; err == nil && len(rest) > 0 {
				err = errRecord
			}
			return err
		case record[0] == recordApply:
			d, err := parseApply(record)
			if err == nil {
				k.app.Apply(d)
				k.replayed++
				k.place.Advance(&d)
				k.since += len(record)
			}
			return err
		}
		return errRecord
	})
}
