package replicated

import (
	"errors"

	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
)

// misread has a process start, now and then, while its disk cannot be read in one place, once or
// from then on. It finds what it would have found without that, or is refused because of it;
// and the process after it finds that, whatever the one before has done to the files. All
// this is on copies: the run goes on as if it had not been.
func (s *run) misread(d *disk) {
	if d.looks.IntN(3) > 0 {
		return
	}
	files := copyOf(d.files.Files())
	want, why := s.startOn(disktest.Of(files))
	bad := &disktest.Unreadable{Disk: disktest.Of(files), Left: d.looks.IntN(30), Lasting: d.looks.IntN(2) == 0}
	got, err := s.startOn(bad)
	if !bad.Failed {
		return
	}
	s.w.Sometimes(Unread)
	switch {
	case err == nil && (why != nil || got != want):
		s.check.failAt("disk", d.node.ID(), "a failed read is not noticed, and %v without it", why)
	case err != nil && why == nil && !errors.Is(err, disktest.ErrUnread):
		s.check.failAt("disk", d.node.ID(), "a failed read is taken for something else: %v", err)
	}
	if after, err := s.startOn(bad.Disk); after != want || (err == nil) != (why == nil) {
		s.check.failAt("disk", d.node.ID(), "a start that could not read its disk has changed it: %v, and %v before", err, why)
	}
}

// startOn opens a store, and returns what a process finds there.
func (s *run) startOn(disk journal.Disk) (fact, error) {
	app := &kept{state: newState(s.load.sessions)}
	j, err := journal.OpenOn(disk, journal.Options{Segment: s.load.segment, ID: 1})
	if err != nil {
		return fact{}, err
	}
	k, _, err := keep.Open(j, app, keep.Options{Least: s.load.least})
	if err != nil {
		return fact{}, err
	}
	return factOf(k.Place(), k.Place().Ordered, app.state), nil
}
