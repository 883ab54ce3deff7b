package journal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// OpenOn opens the journal on a disk, or makes one if the disk has no files of one. It
// reads everything but the content of the snapshot. The error is a [*DamagedError] or a
// [*MissingError] if records are lost that had been on the disk.
func OpenOn(d Disk, o Options) (*Journal, error) {
	j := &Journal{disk: d, size: o.Segment, want: o.Known}
	if j.size == 0 {
		j.size = DefaultSegment
	}
	// Files are removed below because of the names of others, which a process that was
	// killed may not have flushed.
	if err := d.Sync(); err != nil {
		return nil, err
	}
	segments, snapshots, err := j.list()
	if err != nil {
		return nil, err
	}
	if err := j.choose(&segments, snapshots); err != nil {
		return nil, err
	}
	if len(segments) == 0 {
		return j, j.begin(o)
	}
	if err := j.openAll(segments); err != nil {
		return nil, errors.Join(err, j.closeFiles())
	}
	return j, nil
}

// list returns the numbers of the segments and of the snapshots, and removes files that
// do not count yet.
func (j *Journal) list() (segments, snapshots []uint64, err error) {
	names, err := j.disk.List()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if n, ok := parseName(segmentPrefix, name); ok {
			segments = append(segments, n)
		} else if n, ok := parseName(snapshotPrefix, name); ok {
			snapshots = append(snapshots, n)
		} else if own(name) {
			if err := j.disk.Remove(name); err != nil {
				return nil, nil, err
			}
		}
	}
	slices.Sort(segments)
	slices.Sort(snapshots)
	return segments, snapshots, nil
}

// own reports whether a file is one of a journal that does not count yet.
func own(name string) bool {
	name, cut := strings.CutSuffix(name, unnamed)
	_, segment := parseName(segmentPrefix, name)
	_, snapshot := parseName(snapshotPrefix, name)
	return cut && (segment || snapshot)
}

// begin makes an empty journal, unless the disk has had another one.
func (j *Journal) begin(o Options) error {
	switch {
	case j.snapshot > 0:
		return j.missingLog(fmt.Sprintf("there is a snapshot of the first %d records and no log", j.snapshot))
	case o.Former != "":
		return j.missingLog(o.Former + " was written after it")
	}
	if j.id = o.ID; j.id == 0 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		j.id = binary.BigEndian.Uint64(b[:])
	}
	s, err := createSegment(j.disk, origin{j.id, 1, 0}, j.size)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.last = s
	return nil
}

// choose takes the newest snapshot. Other snapshots and the segments that it stands for,
// which a crash has left, are removed once all of the snapshot is checked.
func (j *Journal) choose(segments *[]uint64, snapshots []uint64) error {
	var left []string // by a crash
	if n := len(snapshots); n > 0 {
		j.snapshot = snapshots[n-1]
		for _, number := range snapshots[:n-1] {
			left = append(left, nameOf(snapshotPrefix, number))
		}
	}
	all := *segments
	for len(all) > 1 && all[1] <= j.snapshot+1 {
		left, all = append(left, nameOf(segmentPrefix, all[0])), all[1:]
	}
	*segments = all
	if j.snapshot > 0 {
		if err := j.checkSnapshot(len(left) > 0); err != nil {
			return err
		}
	}
	if len(all) > 0 && all[0] > j.snapshot+1 {
		return j.missingLog(fmt.Sprintf("the first record in the directory is number %d", all[0]))
	}
	for _, name := range left {
		if err := j.disk.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// missingLog returns the error if the records behind the snapshot are lost. Their file may begin
// with an earlier one, or a snapshot is lost that stood for them.
func (j *Journal) missingLog(why string) error {
	or := eitherSide
	if j.snapshot == 0 {
		or = anySnapshot
	}
	return &MissingError{j.disk.Path(nameOf(segmentPrefix, j.snapshot+1)), or, why}
}

// checkSnapshot checks the header of the snapshot, or all of it.
func (j *Journal) checkSnapshot(all bool) error {
	r, err := openSnapshot(j.disk, nameOf(snapshotPrefix, j.snapshot))
	if err != nil {
		return err
	}
	j.id = r.journal
	if err = j.known(r.path); err == nil && all {
		_, err = io.Copy(io.Discard, r)
	}
	return errors.Join(err, r.Close())
}

// known returns an error unless a file, which the number of the journal is from, is of the one
// that the caller knows.
func (j *Journal) known(path string) error {
	if j.want == 0 || j.want == j.id {
		return nil
	}
	return &StrangeError{path}
}

// openAll reads all segments and cuts the last one.
func (j *Journal) openAll(numbers []uint64) error {
	for i, n := range numbers {
		before := j.last
		s, err := openSegment(j.disk, nameOf(segmentPrefix, n))
		if err != nil {
			return err
		}
		j.last = s
		if before != nil {
			if err := j.endBefore(before, s); err != nil {
				return err
			}
		}
		if j.id == 0 {
			j.id = s.journal
			if err := j.known(j.disk.Path(s.name)); err != nil {
				return err
			}
		}
		if s.journal != j.id {
			return j.ofAnother(s, nameOf(snapshotPrefix, j.snapshot))
		}
		wrong, err := s.scan(nil)
		if err != nil {
			return err
		}
		if err := j.checkFault(s, wrong, i == len(numbers)-1); err != nil {
			return err
		}
	}
	j.count = j.last.next - 1
	if err := j.cutLast(); err != nil {
		return err
	}
	if err := j.finish(); !errors.Is(err, ErrFull) {
		return err
	}
	return nil // a Queue writes the ends once there is room
}

// endBefore notes a segment that another one follows. A crash may have left it without its
// end.
func (j *Journal) endBefore(before, s *segment) error {
	j.old = append(j.old, before)
	if err := j.follows(before, s); err != nil || before.closed {
		return errors.Join(err, before.file.Close())
	}
	before.flushed = before.end // or nothing would follow
	j.ending = append(j.ending, before)
	return nil
}

// follows returns an error unless a segment continues where another one ends.
func (j *Journal) follows(before, s *segment) error {
	switch {
	case s.journal != before.journal:
		return j.ofAnother(s, before.name)
	case s.first == before.next && s.chain == before.sum:
		return nil
	case before.closed && s.first > before.next:
		return j.missingNext(before)
	}
	return &DamagedError{j.disk.Path(before.name), before.end, fmt.Sprintf("%s does not continue it, and begins with record %d", j.disk.Path(s.name), s.first)}
}

// missingNext returns the error if the segment is lost that follows another one. It may be
// gone rightly instead, because a snapshot stands for its records: then a later segment is
// lost, or that snapshot is.
func (j *Journal) missingNext(s *segment) error {
	if s.next <= j.snapshot {
		return j.missingLog(fmt.Sprintf("%s says that others follow it", j.disk.Path(s.name)))
	}
	return &MissingError{j.disk.Path(nameOf(segmentPrefix, s.next)), laterSnapshot, j.disk.Path(s.name) + " says that others follow it"}
}

// ofAnother returns the error if a segment is of another journal than a file. Either of the
// two may be the wrong one.
func (j *Journal) ofAnother(s *segment, than string) error {
	return &DamagedError{j.disk.Path(s.name), 0, "it belongs to another journal than " + j.disk.Path(than)}
}

// checkFault returns an error if the end of a segment shows that data is lost.
func (j *Journal) checkFault(s *segment, wrong string, last bool) error {
	if !last {
		return nil // the next segment tells
	}
	if s.closed {
		return j.missingNext(s)
	}
	t, err := s.readTail()
	if err != nil {
		return err
	}
	if j.lost = t.size; t.flushed > s.end {
		return &DamagedError{j.disk.Path(s.name), s.end, wrong}
	}
	if s.next <= j.snapshot {
		return &DamagedError{j.disk.Path(s.name), s.end, fmt.Sprintf("%s, and there is a snapshot of %d records", wrong, j.snapshot)}
	}
	return nil
}

// cutLast removes what follows the last batch. Everything before is flushed: after the
// end of a process it may be in the memory of the system only.
func (j *Journal) cutLast() error {
	s := j.last
	if err := s.cut(j.size); err != nil {
		return fmt.Errorf("journal: %s: %w", j.disk.Path(s.name), err)
	}
	return j.disk.Sync()
}

// Replay calls f with the number and the content of every record after the snapshot. The
// content is only valid during the call. An error of f ends the calls, and is returned.
// Replay must be called before the first batch is appended.
func (j *Journal) Replay(f func(number uint64, record []byte) error) error {
	for _, s := range append(slices.Clone(j.old), j.last) {
		if err := j.replay(s, f); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) replay(old *segment, f func(number uint64, record []byte) error) error {
	s, err := openSegment(j.disk, old.name)
	if err != nil {
		return err
	}
	wrong, err := s.scan(func(first uint64, h head, b []byte) error {
		number := first
		ok, err := records(b, h.count, func(record []byte) error {
			number++
			if number-1 <= j.snapshot {
				return nil
			}
			return f(number-1, record)
		})
		if !ok {
			return &DamagedError{j.disk.Path(s.name), s.end, "the lengths of records are wrong"}
		}
		return err
	})
	if err == nil && s.next != old.next {
		err = &DamagedError{j.disk.Path(s.name), s.end, wrong}
	}
	return errors.Join(err, s.file.Close())
}
