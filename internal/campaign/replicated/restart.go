package replicated

import (
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// fact is what a process must find whose disk ends with a record.
type fact struct {
	place     uint64 // a hash
	history   uint64
	ops, once int
}

// factOf describes a state at a place. It does not rest on the encoding of places.
func factOf(p *replica.Place, ordered []broadcast.Mark, app *state) fact {
	var h maphash.Hash
	h.SetSeed(places)
	maphash.WriteComparable(&h, point{p.Label, p.Rank, p.Era, p.End, p.Remembers, p.View, p.Position, len(p.Line)})
	for _, a := range p.Line {
		maphash.WriteComparable(&h, a)
	}
	for _, m := range ordered {
		maphash.WriteComparable(&h, m)
	}
	return fact{h.Sum64(), app.history, len(app.ops), len(app.once)}
}

// places is the seed of the hashes of places, which no other process sees.
var places = maphash.MakeSeed()

// point is a place without its ancestors, which it counts, and without how far senders
// were ordered.
type point struct {
	label     replica.Label
	rank      uint64
	era       replica.Era
	end       replica.Name
	remembers bool
	view      membership.ViewID
	position  uint64
	ancestors int
}

// know notes which state belongs to the last record. If others before it are new, they say
// nothing of the state.
func (d *disk) know(app *state) {
	last := d.keeper.Last()
	for uint64(len(d.truth)) <= last {
		d.truth = append(d.truth, d.truth[len(d.truth)-1])
	}
	d.truth[last] = factOf(d.keeper.Place(), d.ordered, app)
}

// kept is an application as a keeper sees it.
type kept struct {
	*state
	twice bool // an operation came that the state had
}

// Apply implements [keep.Application].
func (k *kept) Apply(d broadcast.Delivery) any {
	answer, fresh := k.apply(d.Payload)
	k.twice = k.twice || !fresh
	return answer
}

// Save implements [keep.Application].
func (k *kept) Save(w io.Writer) error {
	_, err := w.Write(k.canonical())
	return err
}

// Load implements [keep.Application].
func (k *kept) Load(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err == nil {
		k.restore(b)
	}
	return err
}

// recover returns what a process finds that starts.
func (s *run) recover(d *disk) (*state, replica.Earlier) {
	s.end(d)
	loss := s.lose(d)
	for refusals := 0; ; {
		s.misread(d)
		app := &kept{state: newState(s.load.sessions)}
		err := s.open(d, app)
		switch {
		case errors.Is(err, disktest.ErrPower):
			s.w.Sometimes(EndedEarly)
			s.end(d)
			d.confirmed = true
			continue
		case errors.Is(err, journal.ErrFull): // a new store needs room
			d.files.SetRoom(-1)
			continue
		case err == nil && s.judge(d, app, loss):
			return app.state, d.keeper.Place().Named()
		case err != nil:
			s.refused(d, loss, err)
			if refusals++; refusals < 2 {
				continue // a second start must not go on with less
			}
		}
		s.wipe(d)
		loss, refusals = nil, 0
	}
}

// end ends a process: what it was writing is on the disk in part. The power of its machine
// may have failed too, and then what was not flushed may be lost.
func (s *run) end(d *disk) {
	if d.keeper != nil && (d.writing || d.snapping) {
		d.files.FailAfter(d.rand.IntN(8))
		if d.snapping && (!d.writing || d.rand.IntN(2) == 0) {
			_ = d.keeper.Snapshot(d.steps[0])
		} else {
			_ = d.writeBatch()
		}
	}
	if d.keeper != nil {
		d.sure = d.journal.Last()
	}
	d.files.FailAfter(-1)
	d.files.SetRoom(-1)
	d.files.FailSync(nil)
	if d.blackout || d.rand.IntN(2) == 0 {
		s.w.Sometimes(PowerLost)
		d.files, d.told = d.files.Survivor(d.rand), false
	}
	d.blackout, d.writer = false, writer{}
}

// open opens the journal, unless the process ends meanwhile.
func (s *run) open(d *disk, app *kept) (err error) {
	if d.rand.IntN(8) == 0 {
		d.files.FailAfter(d.rand.IntN(20))
	}
	s.fillAtStart(d)
	d.journal, err = journal.OpenOn(d.files, journal.Options{Segment: s.load.segment, ID: d.rand.Uint64() | 1})
	if err != nil {
		return err
	}
	before := d.journal.Last()
	if d.keeper, d.steps, err = keep.Open(d.journal, app, keep.Options{Least: s.load.least}); err != nil {
		return err
	}
	d.queue = journal.NewQueue(d.journal, journal.WriterOptions{OnDurable: d.marks.Reach})
	if d.keeper.Last() > before {
		d.confirmed = true
	}
	if len(d.steps) > 0 {
		s.w.Sometimes(Unconfirmed)
	}
	if d.journal.Last() > before {
		d.batch, d.told = before+1, false
	}
	d.files.FailAfter(-1)
	if d.journal.Cut() > 0 {
		s.w.Sometimes(Torn)
	}
	return nil
}

// refused demands that a store is refused for a reason, and that the error names the file.
func (s *run) refused(d *disk, loss *loss, err error) {
	switch {
	case loss == nil:
		s.check.failAt("disk", d.node.ID(), "is refused, though nothing was lost: %v", err)
	case loss.file != "" && !disktest.Blames(err, loss.file):
		s.check.failAt("disk", d.node.ID(), "%s: the error does not name %s: %v", loss.what, loss.file, err)
	default:
		s.w.Sometimes(loss.what + RefusedAfter)
	}
}

// judge demands that a process finds what its disk had: a state that the application had
// once, with everything that was flushed. It reports false if something is missing, and nobody
// would notice that.
func (s *run) judge(d *disk, app *kept, loss *loss) bool {
	if app.twice {
		s.check.failAt("disk", d.node.ID(), "has an operation twice")
	}
	last, ok := d.found(factOf(d.keeper.Place(), d.keeper.Place().Ordered, app.state))
	if !ok {
		s.check.failAt("disk", d.node.ID(), "has another state at record %d than the application had", last)
		return true
	}
	d.ordered = slices.Clone(d.keeper.Place().Ordered)
	sure, batch, told := d.sure, d.batch, d.told
	d.sure = d.journal.Last()
	d.told = d.journal.Mark() // as a writer does that has nothing to write
	switch {
	case last >= sure:
		return true
	case loss == nil:
		s.check.failAt("disk", d.node.ID(), "has %d records, and %d were flushed", last, sure)
		return true
	case !loss.unnoticed && !(loss.inLast && !told && last+1 >= batch):
		s.check.failAt("disk", d.node.ID(), "%s: nobody noticed that records %d to %d are lost", loss.what, last+1, sure)
		return true
	}
	s.w.Sometimes(loss.what + MissedAfter)
	switch {
	case last == 0:
		s.forget(d)
	case s.opt.Quorum:
		d.rolledBack = true
		d.older, d.batch = copyOf(d.files.Files()), 0 // what was copied later is of another history, and so was the batch
	default:
		return false
	}
	return true
}

// found returns the last record to which a state belongs that a process has found. It may
// be the one before the last: a keeper logs a place behind a snapshot that nothing follows.
func (d *disk) found(f fact) (last uint64, ok bool) {
	last = d.keeper.Last()
	known := func(n uint64) bool { return n < uint64(len(d.truth)) && d.truth[n] == f }
	if ok = known(last); !ok && d.confirmed && known(last-1) {
		d.truth = append(d.truth[:last], f)
		return last - 1, true
	}
	d.truth = d.truth[:min(last+1, uint64(len(d.truth)))]
	return last, ok
}

// wipe moves the files of a store away. The node comes back as one that knows nothing.
func (s *run) wipe(d *disk) {
	d.wipe()
	s.forget(d)
}

// wipe removes all files.
func (d *disk) wipe() {
	*d = disk{node: d.node, rand: d.rand, looks: d.looks, files: disktest.New(), truth: d.truth[:1]}
}

// forget notes that a node knows nothing any more.
func (s *run) forget(d *disk) {
	s.w.Sometimes(Forgotten)
	d.older = nil
	s.check.forgets()
}

// operator is how long an operator looks at a view that waits.
const operator = time.Second

// wall is what the wall clocks of nodes and operators show: what they date is far apart.
func (s *run) wall() time.Time { return time.Unix(1e9, 0).Add(s.w.Time() * 10_000) }

// declare has an operator let a view of all nodes go on, without those that were declared dead,
// that waits for an epoch of which all have lost the memory. Disks that lose nothing need one only
// if a change was forced.
func (s *run) declare(m *member) {
	if !s.opt.Change || s.opt.Disks && !s.opt.Damage && !s.opt.Wipes && s.forced.epoch == 0 {
		return
	}
	view := m.view
	m.after(operator, func() {
		switch {
		case m.view != view || m.replica.Situation() != replica.Recovering:
		case s.complete(view.Set):
			s.w.Sometimes(Declared)
			_, _ = m.n.Broadcast(replica.AppendBootstrap(nil, view.ID, s.wall()), broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity})
		default:
			s.declare(m)
		}
	})
}
