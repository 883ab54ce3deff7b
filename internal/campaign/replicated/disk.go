package replicated

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// disk is the disk of a machine, in memory. The process that runs keeps its state there
// as a real one does, in the files of a journal; timers play the goroutine of its writer.
type disk struct {
	node     *sim.Node
	rand     *rand.Rand // of faults
	looks    *rand.Rand // of those that only copies meet
	files    *disktest.Disk
	truth    []fact            // by record
	sure     uint64            // the last record that was on the disk when a process ended
	batch    uint64            // the first record of the last batch that was
	told     bool              // the disk says that this batch was flushed
	older    map[string][]byte // a copy of all files, or nil
	blackout bool              // the power of all machines has failed
	at       reach             // how far the disk is, as its process knows
	// rolledBack says that an older copy has come back, and that the disk has not had the state
	// of a later view since.
	rolledBack bool
	writer
}

// writer is what the process has of its store, and loses when it ends.
type writer struct {
	journal  *journal.Journal
	keeper   *keep.Keeper
	queue    *journal.Queue
	marks    keep.Marks
	placed   []keep.Step // records with a place that marks may not have reached yet
	steps    []keep.Step // that the application waits for
	writing  bool        // a batch
	snapping bool        // a snapshot, which is the first step
	logged   bool        // the operation that is applied

	ordered   []broadcast.Mark // how far the messages are ordered that the state has
	confirmed bool             // a keeper may have logged a record at the start
}

func newDisk(n *sim.Node, seed uint64) *disk {
	return &disk{node: n, rand: rand.New(rand.NewPCG(seed, uint64(n.ID()))), looks: rand.New(rand.NewPCG(seed, uint64(n.ID())<<8)), files: disktest.New(), truth: []fact{factOf(new(replica.Place), nil, new(state))}}
}

// blocked reports whether the application has to wait for the disk.
func (d *disk) blocked() bool { return d != nil && len(d.steps) > 0 }

// later does something in a turn of the process after a time, in whatever incarnation.
func (d *disk) later(after time.Duration, do func()) {
	k := d.keeper
	d.node.After(after, func() {
		if d.keeper == k {
			do()
		}
	})
}

// slowly does something after the time that a disk takes.
func (s *run) slowly(d *disk, do func()) { d.later(time.Duration(s.rand.Below(s.load.flush)), do) }

// resume goes on in a process whose timers ended with an incarnation.
func (s *run) resume(d *disk) {
	if d == nil {
		return
	}
	if d.writing {
		s.slowly(d, func() { s.write(d) })
	}
	if d.snapping {
		s.slowly(d, func() { s.snapshot(d) })
	}
}

// log performs steps of the keeper, after which the application goes on.
func (s *run) log(d *disk, steps []keep.Step) {
	d.steps = append(d.steps[:0], steps...)
	s.proceed(d)
}

// proceed performs steps as far as the disk has what they need.
func (s *run) proceed(d *disk) {
	for len(d.steps) > 0 && !d.snapping {
		step := d.steps[0]
		if step.Record == nil {
			if d.snapping = d.journal.Last() >= step.Number; d.snapping {
				s.slowly(d, func() { s.snapshot(d) })
			}
			break
		}
		d.marks.Add(&step)
		d.placed = append(d.placed, keep.Step{Number: step.Number, At: step.At})
		d.queue.Add(step.Record)
		d.steps = d.steps[1:]
	}
	s.flush(d)
}

// flush begins to write all records that wait.
func (s *run) flush(d *disk) {
	if !d.writing && d.queue.Take() {
		d.writing = true
		s.slowly(d, func() { s.write(d) })
	}
}

// written reports whether an attempt to write went well. If the disk is full, there is another
// attempt; if it fails, the process ends, because nobody knows what is on the disk.
func (s *run) written(d *disk, err error, full string, again func()) bool {
	switch {
	case errors.Is(err, journal.ErrFull):
		s.w.Sometimes(full)
		d.later(retry, again)
	case err != nil:
		s.restart(d)
	}
	return err == nil
}

// write makes an attempt to write a batch.
func (s *run) write(d *disk) {
	s.fill(d)
	if !s.done && s.rand.Chance(s.load.broken) {
		d.files.FailSync(errBroken)
	}
	if !s.written(d, d.writeBatch(), Full, func() { s.write(d) }) {
		return
	}
	d.writing = false
	s.judgeMarks(d)
	if d.rand.IntN(40) == 0 {
		d.older = copyOf(d.files.Files())
	}
	if m := s.members[d.node.ID()-1]; m.runs() {
		at, rank := d.marks.Stored()
		d.reaches(at)
		s.check.generations[at.View] = max(s.check.generations[at.View], generationOf(rank))
		m.reaches(reachOf(at))
		s.perform(m, m.replica.HandleStored(d.node.Instant(), at, rank, nil))
	}
	s.proceed(d)
	if _, some := d.queue.Waits(); !some && !d.writing {
		d.told = d.journal.Mark() || d.told
	}
}

// stored reports whether all disks have all that they were given.
func (s *run) stored() bool {
	return !slices.ContainsFunc(s.disks, func(d *disk) bool {
		if d == nil || d.queue == nil {
			return false
		}
		_, some := d.queue.Waits()
		return some || d.writing || d.snapping || len(d.steps) > 0
	})
}

// writeBatch makes an attempt to write the batch.
func (d *disk) writeBatch() error {
	first := d.journal.Last() + 1
	err := d.queue.Write()
	if err == nil {
		d.batch, d.told = first, false
	}
	return err
}

// judgeMarks demands that the marks say that of the disk which it has, and no less.
func (s *run) judgeMarks(d *disk) {
	var last replica.Point
	k := 0
	for ; k < len(d.placed) && d.placed[k].Number <= d.journal.Last(); k++ {
		if at := d.placed[k].At; !at.View.None() {
			last = at
		}
	}
	at, _ := d.marks.Stored()
	if d.placed = d.placed[k:]; !last.View.None() && at != last {
		s.check.failAt("disk", d.node.ID(), "has %v after record %d, and says %v", last, d.journal.Last(), at)
	}
}

// retry is the time between two attempts to write to a full disk.
const retry = 20 * time.Millisecond

var errBroken = errors.New("the disk is broken")

// fill makes the disk full for a while, now and then.
func (s *run) fill(d *disk) {
	if !s.done && s.rand.Chance(s.load.full) {
		d.files.SetRoom(int(s.rand.Below(2000)))
		d.later(time.Duration(s.rand.Between(1, 10))*retry, func() { d.files.SetRoom(-1) })
	}
}

// fillAtStart makes the disk full before a process opens its store, now and then.
func (s *run) fillAtStart(d *disk) {
	if !s.done && s.load.full > 0 && d.rand.IntN(5) == 0 {
		d.files.SetRoom(d.rand.IntN(200))
	}
}

// beginDisk performs the first steps of a process. A disk that was full has room after a while.
func (s *run) beginDisk(d *disk) {
	d.later(time.Duration(s.rand.Between(1, 10))*retry, func() { d.files.SetRoom(-1) })
	s.proceed(d)
}

// snapshot makes an attempt to write a snapshot, for which the application waits.
func (s *run) snapshot(d *disk) {
	s.fill(d)
	if !s.written(d, d.keeper.Snapshot(d.steps[0]), FullForSnapshot, func() { s.snapshot(d) }) {
		return
	}
	s.w.Sometimes(Compacted)
	d.snapping, d.steps = false, d.steps[1:]
	s.proceed(d)
	s.work(s.members[d.node.ID()-1])
}

// keepBefore writes down what the application is about to do.
func (s *run) keepBefore(m *member, e *replica.Effect) {
	if d := m.disk; d != nil {
		steps := d.keeper.Apply(&e.Delivery, e.At)
		d.logged = len(steps) > 0
		s.log(d, steps)
	}
}

// keep writes down what the application has just done.
func (s *run) keep(m *member, e *replica.Effect) {
	d := m.disk
	if d == nil {
		return
	}
	switch e.Kind {
	case replica.Apply:
		if d.logged {
			x := &e.Delivery
			d.ordered = broadcast.AddMark(d.ordered, broadcast.Mark{Node: x.Sender, Boot: x.Boot, Sequence: x.Sequence})
			d.know(m.app)
		}
		s.log(d, d.keeper.Compact())
	case replica.Restore, replica.Merge:
		d.keeper.Dislocate()
	case replica.Locate:
		if e.Place == nil {
			d.keeper.Dislocate()
			return
		}
		s.check.continues(m, e.Place)
		d.ordered = slices.Clone(e.Place.Ordered)
		steps := d.keeper.Locate(e.Place)
		d.know(m.app)
		s.log(d, steps)
	}
}

// restart crashes a process whose disk has failed, and starts it again. While the world is
// held still, which refuses all faults, it tries again later.
func (s *run) restart(d *disk) {
	s.w.Sometimes(Failed)
	if err := s.w.Inject(fault.Fault{Kind: fault.Crash, Node: d.node.ID(), For: 10 * time.Millisecond}); err != nil {
		d.later(timed.LAN().Expires, func() { s.restart(d) })
	}
}

// endTogether ends all processes at random times, and in some cases the power of all
// machines. The first node's process draws the times.
func (s *run) endTogether(m *member) {
	if !s.load.blackouts || m.inc.Node != 1 {
		return
	}
	m.after(time.Duration(s.rand.Exponential()*float64(rage)/2), func() {
		f := fault.Fault{Kind: fault.CrashAll, For: time.Duration(s.rand.Between(5, 200)) * time.Millisecond}
		if s.w.Time() > rage || s.w.Inject(f) != nil {
			return
		}
		s.w.Sometimes(EndedTogether)
		power := s.rand.Chance(0.5)
		for _, d := range s.disks {
			if d != nil {
				d.blackout = power
			}
		}
	})
}
