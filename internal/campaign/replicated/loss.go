package replicated

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/failaware/failaware/internal/journal/disktest"
)

// loss is what happened to the files of a store between two processes.
type loss struct {
	what      string
	file      string // the one, if it was one
	unnoticed bool   // docs/internals/replication.md says that it is not noticed
	inLast    bool   // it says so of the last batch, unless the disk says that it was flushed
}

// Kinds of losses. A run counts them with what follows: that the store was refused, or that
// nobody noticed.
const (
	LostFile   = "a file was lost"
	FlippedBit = "a bit was flipped"
	CutFile    = "a file was cut"
	OlderFile  = "an older copy of a file came back"
	OlderStore = "an older copy of a store came back"
	LostStore  = "all files were lost"

	RefusedAfter = ", refused"
	MissedAfter  = ", not noticed"

	damaged = 0.2 // share of the starts
)

// lose damages the files of a store, now and then.
func (s *run) lose(d *disk) *loss {
	was := d.files.Files()
	if !s.opt.Damage || s.done || len(was) == 0 || !s.rand.Chance(damaged) {
		return nil
	}
	now := copyOf(was)
	l := d.damage(now)
	if maps.EqualFunc(was, now, bytes.Equal) {
		return nil
	}
	d.files = disktest.Of(now)
	return l
}

func copyOf(files map[string][]byte) map[string][]byte {
	c := map[string][]byte{}
	for name, b := range files {
		c[name] = bytes.Clone(b)
	}
	return c
}

// damage changes files.
func (d *disk) damage(files map[string][]byte) *loss {
	names := slices.Sorted(maps.Keys(files))
	name := names[d.rand.IntN(len(names))]
	last := name == lastSegment(names)
	switch kind := d.rand.IntN(8); {
	case kind == 0:
		delete(files, name)
		return &loss{what: LostFile, file: name, unnoticed: !slices.ContainsFunc(names, func(n string) bool { return n != name && !strings.HasSuffix(n, ".new") })}
	case kind == 1 && len(files[name]) > 0:
		// Half of the flips hit the end of the log, which a power failure may tear: only
		// there can one go unnoticed.
		within := len(files[name])
		if log := lastSegment(names); d.rand.IntN(2) == 0 && len(files[log]) > 0 {
			name, last, within = log, true, min(len(files[log]), 128)
		}
		files[name][len(files[name])-1-d.rand.IntN(within)] ^= 1 << d.rand.IntN(8)
		return &loss{what: FlippedBit, file: name, inLast: last}
	case kind == 2 && len(files[name]) > 0:
		files[name] = files[name][:d.rand.IntN(len(files[name]))]
		return &loss{what: CutFile, file: name, unnoticed: last}
	case kind == 3 && len(d.older) > 0:
		old := slices.Sorted(maps.Keys(d.older))
		name = old[d.rand.IntN(len(old))]
		files[name] = bytes.Clone(d.older[name])
		return &loss{what: OlderFile, file: name, unnoticed: name == lastSegment(names)}
	case kind < 7 && len(d.older) > 0:
		clear(files)
		maps.Copy(files, d.older)
		return &loss{what: OlderStore, unnoticed: true}
	}
	clear(files)
	return &loss{what: LostStore, unnoticed: true}
}

// lastSegment returns the name of the last segment of a log.
func lastSegment(names []string) (last string) {
	for _, name := range names {
		if strings.HasPrefix(name, "log-") && !strings.HasSuffix(name, ".new") {
			last = name
		}
	}
	return last
}
