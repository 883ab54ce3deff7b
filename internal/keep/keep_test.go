package keep

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// list is an application that keeps the payloads it was given.
type list struct {
	words [][]byte
	fail  error // of Save, which writes what it has first
	hides error // of Save instead of the one of what it has written
	lazy  bool  // Load reads nothing
}

func (l *list) Apply(d broadcast.Delivery) any {
	l.words = append(l.words, d.Payload)
	return nil
}

func (l *list) text() string { return string(bytes.Join(l.words, []byte(" "))) }

func (l *list) Save(w io.Writer) error {
	_, err := io.WriteString(w, l.text())
	if err != nil && l.hides != nil {
		return l.hides
	}
	return errors.Join(err, l.fail)
}

func (l *list) Load(r io.Reader) error {
	if l.lazy {
		return nil
	}
	b, err := io.ReadAll(r)
	l.words = bytes.Fields(b)
	return err
}

// kept is a keeper whose steps are performed at once.
type kept struct {
	*Keeper
	j *journal.Journal
}

func open(t testing.TB, d *disktest.Disk, app Application) kept {
	return openWith(t, d, app, Options{})
}

func openWith(t testing.TB, d *disktest.Disk, app Application, o Options) kept {
	j, err := journal.OpenOn(d, journal.Options{Segment: 1 << 12})
	require.NoError(t, err)
	k, steps, err := Open(j, app, o)
	require.NoError(t, err)
	require.NoError(t, kept{k, j}.perform(steps))
	return kept{k, j}
}

func (k kept) perform(steps []Step) error {
	for _, s := range steps {
		if s.Record == nil {
			if err := k.Snapshot(s); err != nil {
				return err
			}
			continue
		}
		var b journal.Batch
		b.Add(s.Record)
		if err := k.j.Append(&b); err != nil {
			return err
		}
	}
	return nil
}

func place(view uint64) *replica.Place {
	return &replica.Place{View: membership.ViewID{Sequence: view, Leader: 1, Boot: 1}, Position: 5}
}

// three returns a disk that has three operations.
func three(t testing.TB) (*disktest.Disk, *list, kept) {
	d, app := disktest.New(), &list{}
	k := open(t, d, app)
	steps := k.Locate(place(1))
	require.Equal(t, replica.Point{View: place(1).View, Position: 5}, steps[len(steps)-1].At, "the disk has no more with it")
	require.NoError(t, k.perform(steps))
	for i, word := range []string{"one", "two", "three"} {
		op := broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: 2, Sequence: uint64(i + 1)}, Position: uint64(6 + i), Payload: []byte(word)}
		require.NoError(t, k.perform(k.Apply(&op, replica.Point{View: place(1).View, Position: op.Position})))
		app.Apply(op)
	}
	return d, app, k
}

// keepsPayloads has an application keep the payloads that a start gives to it.
func keepsPayloads(t testing.TB) {
	d, app, k := three(t)
	again := &list{}
	restarted := open(t, d, again)
	require.EqualValues(t, 3, restarted.Replayed())
	require.Equal(t, app.text(), again.text())
	require.Equal(t, k.Place(), restarted.Place(), "others must not order again what it has")
	require.EqualValues(t, 8, restarted.Place().Position)
}

func TestPayloadsStayAsTheyAre(t *testing.T) { keepsPayloads(t) }

// failedSave has an application fail to write its state down, after it wrote a part: what was
// there before counts.
func failedSave(t testing.TB) {
	d, app, k := three(t)
	app.fail = errors.New("no more of it")
	k.Dislocate()
	require.ErrorIs(t, k.perform(k.Locate(place(2))), app.fail)
	again := &list{}
	require.Equal(t, place(1).View, open(t, d, again).Place().View)
	require.Equal(t, "one two three", again.text())
}

func TestAStateThatWasNotWrittenWholeDoesNotCount(t *testing.T) { failedSave(t) }

// unreadDamage damages a part of a snapshot that the application does not read.
func unreadDamage(t testing.TB) {
	d, app, k := three(t)
	app.words = append(app.words, []byte(strings.Repeat("x", 1<<17)))
	k.Dislocate()
	require.NoError(t, k.perform(k.Locate(place(2))))
	for name, b := range d.Files() {
		if strings.HasPrefix(name, "snapshot-") {
			b[len(b)-99]++
		}
	}
	j, err := journal.OpenOn(d, journal.Options{Segment: 1 << 12})
	require.NoError(t, err)
	_, _, err = Open(j, &list{lazy: true}, Options{})
	_, damaged := errors.AsType[*journal.DamagedError](err)
	require.True(t, damaged, "%v", err)
}

func TestDamageThatNobodyReadsIsNoticed(t *testing.T) { unreadDamage(t) }

// silent is an application that does not pass on why it could not read.
type silent struct{ *list }

func (s silent) Load(r io.Reader) error {
	if s.list.Load(r) != nil {
		return errors.New("this is no state")
	}
	return nil
}

// endDamage damages a snapshot behind its content: each byte, its length, and what follows it. The
// error names the file.
func endDamage(t testing.TB) {
	d, app, k := three(t)
	app.words = append(app.words, []byte("more"))
	k.Dislocate()
	require.NoError(t, k.perform(k.Locate(place(2))))
	whole, name := d.Files(), ""
	for n := range whole {
		if strings.HasPrefix(n, "snapshot-") {
			name = n
		}
	}
	b := whole[name]
	damaged := [][]byte{append(bytes.Clone(b), 0)}
	for n := 1; n <= 52; n++ { // the last piece, which is empty, and the foot
		wrong := bytes.Clone(b)
		wrong[len(b)-n]++
		damaged = append(damaged, wrong, b[:len(b)-n])
	}
	for i, wrong := range damaged {
		whole[name] = wrong
		j, err := journal.OpenOn(disktest.Of(whole), journal.Options{Segment: 1 << 12})
		require.NoError(t, err)
		_, _, err = Open(j, silent{&list{}}, Options{})
		why, ok := errors.AsType[*journal.DamagedError](err)
		require.True(t, ok, "%d: %v", i, err)
		require.Contains(t, why.Path, name)
	}
}

func TestADamagedEndNamesTheFile(t *testing.T) { endDamage(t) }

// failedReads has each look at a disk with a snapshot and later operations fail, once or from then
// on. An application gets all of its state, or a start is refused because of that.
func failedReads(t testing.TB) {
	d, app, k := three(t)
	k.Dislocate()
	require.NoError(t, k.perform(k.Locate(place(2))))
	op := broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: 2, Sequence: 4}, Position: 9, Payload: []byte("four")}
	require.NoError(t, k.perform(k.Apply(&op, replica.Point{View: place(2).View, Position: 9})))
	app.Apply(op)
	for _, lasting := range []bool{false, true} {
		refused := 0
		for looks, failed := 0, true; failed; looks++ {
			bad, again := &disktest.Unreadable{Disk: disktest.Of(d.Files()), Left: looks, Lasting: lasting}, &list{}
			j, err := journal.OpenOn(bad, journal.Options{Segment: 1 << 12})
			if err == nil {
				_, _, err = Open(j, again, Options{})
			}
			if failed = bad.Failed; err != nil {
				require.ErrorIs(t, err, disktest.ErrUnread, "look %d", looks)
				refused++
				continue
			}
			require.Equal(t, "one two three four", again.text(), "look %d", looks)
		}
		require.Greater(t, refused, 10)
	}
}

func TestAStateThatCannotBeReadIsNotLess(t *testing.T) { failedReads(t) }

// A snapshot that fails has one cause, which the application passes on or not. It is told
// once, in one line of the log. The room that the snapshot had is free again: the log may
// need it.
func TestTheCauseOfAFailedSnapshotIsToldOnce(t *testing.T) { failedSnapshot(t) }

func failedSnapshot(t testing.TB) {
	d, app, k := three(t)
	files := len(d.Files())
	app.words = append(app.words, bytes.Repeat([]byte("x"), 1<<20))
	d.SetRoom(1 << 10)
	err := k.Snapshot(Step{Number: k.Last()})
	require.ErrorIs(t, err, journal.ErrFull)
	require.NotContains(t, err.Error(), "\n")
	app.hides = errors.New("the application's own")
	d.SetRoom(1 << 10)
	err = k.Snapshot(Step{Number: k.Last()})
	require.ErrorIs(t, err, journal.ErrFull)
	require.NotErrorIs(t, err, ErrUnmade)
	require.ErrorIs(t, err, app.hides)
	require.Len(t, d.Files(), files)
}

// unconfirmed has the disk fail when a start writes down where its snapshot belongs: the process
// could end before anything else is written, and then the snapshot belongs nowhere.
func unconfirmed(t testing.TB) {
	d, _, k := three(t)
	require.NoError(t, k.Snapshot(Step{Number: k.Last()}))
	j, err := journal.OpenOn(d, journal.Options{Segment: 1 << 12})
	require.NoError(t, err)
	broken := errors.New("broken")
	d.FailSync(broken)
	_, _, err = Open(j, &list{}, Options{})
	require.ErrorIs(t, err, broken)
}

func TestAStartThatCannotWriteFails(t *testing.T) { unconfirmed(t) }

// A start on a full disk goes on. What confirms the snapshot is the first thing that is written when
// there is room.
func TestAStartOnAFullDiskWaits(t *testing.T) {
	d, _, k := three(t)
	require.NoError(t, k.Snapshot(Step{Number: k.Last()}))
	require.NoError(t, k.j.Close())
	j, err := journal.OpenOn(d, journal.Options{Segment: 1 << 12})
	require.NoError(t, err)
	d.SetRoom(0)
	again, steps, err := Open(j, &list{}, Options{})
	require.NoError(t, err)
	require.Len(t, steps, 1)
	require.Equal(t, k.Last()+1, steps[0].Number)
	d.SetRoom(-1)
	require.NoError(t, kept{again, j}.perform(steps))
	require.Equal(t, again.Last(), j.Last())
}

// seldom has a large state: it is written down again when twice as much was logged since, however
// little Least is.
func seldom(t testing.TB) {
	d, _, _ := three(t)
	app := &list{}
	k := openWith(t, d, app, Options{Least: 1})
	op := broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: 2, Sequence: 4}, Position: 9, Payload: bytes.Repeat([]byte("4"), 1000)}
	operations := func() (n int) {
		for ; len(k.Compact()) == 0; n++ {
			require.Less(t, n, 100)
			require.NoError(t, k.perform(k.Apply(&op, replica.Point{})))
			app.Apply(op)
			op.ID.Sequence, op.Position = op.ID.Sequence+1, op.Position+1
			op.Payload = op.Payload[:100]
		}
		return n
	}
	operations()
	require.NoError(t, k.perform(k.Compact()))
	require.Equal(t, 1, operations(), "the state is small, and the operation is not")
	require.NoError(t, k.perform(k.Compact()))
	require.Greater(t, operations(), 10)
	require.NoError(t, k.perform(k.Compact()))
	app = &list{}
	k = openWith(t, d, app, Options{Least: 1})
	require.Greater(t, operations(), 10, "a start does not change its size")
}

// byDefault has a small state, which is written down when 16 MiB were logged since.
func byDefault(t testing.TB) {
	d, _, _ := three(t)
	k := openWith(t, d, &list{}, Options{})
	require.Equal(t, 16<<20, k.next)
	k.since = k.next - 1
	require.Empty(t, k.Compact())
	k.since++
	require.NotEmpty(t, k.Compact())
	require.True(t, k.Postpone())
	require.Empty(t, k.Compact(), "the application could not make it")
	k.since += 4<<20 - 1
	require.Empty(t, k.Compact())
	k.since++
	require.NotEmpty(t, k.Compact(), "it is tried again long before as much is logged")
	k.Dislocate()
	require.Empty(t, k.Compact(), "a snapshot would stand for operations that the disk does not have")
}

func TestSmallStatesAreWrittenSeldom(t *testing.T) { byDefault(t) }

func TestLargeStatesAreWrittenSeldom(t *testing.T) { seldom(t) }

// handles is a disk that counts the files which are open.
type handles struct {
	*disktest.Disk
	open int
}

type handle struct {
	journal.File
	of *handles
}

func (h *handles) Open(name string) (journal.File, error) {
	f, err := h.Disk.Open(name)
	if err != nil {
		return nil, err
	}
	h.open++
	return handle{f, h}, nil
}

func (f handle) Close() error {
	f.of.open--
	return f.File.Close()
}

// A start leaves no file open: some systems remove only files that are closed.
func TestAStartLeavesNoFileOpen(t *testing.T) {
	d, app, k := three(t)
	k.Dislocate()
	require.NoError(t, k.perform(k.Locate(place(2))))
	h, again := &handles{Disk: disktest.Of(d.Files())}, &list{}
	j, err := journal.OpenOn(h, journal.Options{Segment: 1 << 12})
	require.NoError(t, err)
	before := h.open
	_, _, err = Open(j, again, Options{})
	require.NoError(t, err)
	require.Equal(t, app.text(), again.text())
	require.Equal(t, before, h.open)
}
