// Package keep decides what of a replicated state is written to a journal, and finds the
// state there when a process starts.
//
// A [Keeper] is a machine: its methods return steps, which its owner performs one after
// the other. It appends records, which a [journal.Queue] makes batches of, and writes
// snapshots once all records before are on the disk. [Marks] say which place of the state
// the disk has by then. So a simulated node keeps its state as a real one does.
package keep

import (
	"io"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/replica"
)

// Application is the state that is kept.
type Application interface {
	Apply(op broadcast.Delivery) (result any)
	Save(w io.Writer) error
	Load(r io.Reader) error
}

// Options are options of a keeper. Zero values stand for the defaults.
type Options struct {
	// Least is how many bytes of operations are logged before a snapshot is made, unless
	// the snapshot before was larger than half of that. Zero means 16 MiB.
	Least int
}

// Keeper keeps the state of an application in a journal: a snapshot, and all operations
// since. It belongs to the caller of the application.
type Keeper struct {
	journal  *journal.Journal
	app      Application
	place    replica.Place // of the state
	named    bool          // the state on the disk is that of the application
	number   uint64        // of the last record
	since    int           // bytes of operations since the snapshot
	least    int           // of them before a snapshot is made
	next     int           // of them before the next one
	replayed uint64
	buffer   []byte
	steps    []Step
}

// A Step is what the owner of a keeper does next. It is valid until the next call.
type Step struct {
	// Record is appended to the journal. If it is nil, the owner waits until record Number
	// is on the disk, and calls [Keeper.Snapshot] with the step.
	Record []byte
	Number uint64 // of the record, or of the last one that the snapshot stands for
	// At is where the state is that the disk has with the record. It has no view if the
	// record does not say that.
	At replica.Point
	// Rank is that of the last place in the records.
	Rank uint64
}

// Place returns which state the application has, or the last one that had a name. Its
// slices belong to the keeper.
func (k *Keeper) Place() *replica.Place { return &k.place }

// Replayed returns how many operations the journal had behind the snapshot.
func (k *Keeper) Replayed() uint64 { return k.replayed }

// Last returns the number of the last record, on the disk or in a step.
func (k *Keeper) Last() uint64 { return k.number }

// Apply logs an operation that the application is about to apply.
func (k *Keeper) Apply(d *broadcast.Delivery, at replica.Point) []Step {
	if !k.named {
		return nil
	}
	k.buffer = appendApply(k.buffer[:0], d)
	k.since += len(k.buffer)
	k.place.Advance(d)
	k.steps = k.steps[:0]
	k.log(k.buffer, at)
	return k.steps
}

// log adds a record to the steps.
func (k *Keeper) log(record []byte, at replica.Point) {
	k.number++
	k.steps = append(k.steps, Step{record, k.number, at, k.place.Rank})
}

// Dislocate notes that the disk has another state than the application until the next
// call of Locate.
func (k *Keeper) Dislocate() { k.named = false }

// Locate logs which state the application has. A state that does not continue what is on
// the disk is written down whole. Until that snapshot is complete, the earlier state is
// the one that counts. The record of the place behind it says that the snapshot was
// complete, should its file be lost.
func (k *Keeper) Locate(p *replica.Place) []Step {
	k.place, k.steps = *p, k.steps[:0]
	if !k.named {
		k.log([]byte{recordReplaced}, replica.Point{})
		k.steps = append(k.steps, Step{Number: k.number})
	}
	k.buffer = appendPlace(k.buffer[:0], p)
	k.log(k.buffer, replica.Point{View: p.View, Position: p.Position})
	return k.steps
}

// Compact has a snapshot made once enough operations have been logged.
func (k *Keeper) Compact() []Step {
	if !k.named || k.since < k.next {
		return nil
	}
	k.steps = append(k.steps[:0], Step{Number: k.number})
	return k.steps
}
