package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/timed"
)

// storeOn gives an application the state on a disk.
func storeOn(t testing.TB, disk *disktest.Disk, app *words) *Store {
	j, err := journal.OpenOn(disk, journal.Options{Segment: 1 << 12})
	require.NoError(t, err)
	s, err := newStore(j, app, keep.Options{})
	require.NoError(t, err)
	return s
}

// joinOn has a member keep its state on a disk, until ctx is done.
func joinOn(ctx context.Context, t *testing.T, h *hub, id timed.NodeID, disk *disktest.Disk) *member {
	app := &words{}
	return h.run(ctx, t, id, app, replica.Config{}, storeOn(t, disk, app))
}

// followed has members with disks split, take the state of each other over, merge and go on, and
// returns how what a disk has differs from what its application had, at each of these.
func followed(t *testing.T) (differences []string) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var all []*member
		var disks []*disktest.Disk
		for id := range timed.NodeID(3) {
			disks = append(disks, disktest.New())
			all = append(all, joinOn(ctx, t, h, id+1, disks[id]))
		}
		a, b, c := all[0], all[1], all[2]
		compare := func(when string) {
			time.Sleep(time.Second)
			synctest.Wait()
			for i, m := range all {
				found := &words{}
				require.NoError(t, storeOn(t, disktest.Of(disks[i].Files()), found).Close())
				if !slices.Equal(m.app.list, found.list) {
					differences = append(differences, fmt.Sprintf("%s: node %d has %v, and its disk %v", when, i+1, m.app.list, found.list))
				}
			}
		}
		h.view(a.group, b.group)
		a.submit(t, "one")
		compare("the first operation")
		h.view(a.group)
		h.view(b.group, c.group)
		compare("a state that another member has sent")
		a.submit(t, "two")
		c.submit(t, "three")
		compare("a split")
		h.view(a.group, b.group, c.group)
		compare("a merger")
		b.submit(t, "four")
		compare("what follows a merger")
		require.Equal(t, []string{"one", "three", "two", "four"}, a.app.list)
		stop()
		for _, m := range all {
			require.ErrorIs(t, <-m.err, context.Canceled)
		}
	})
	return differences
}

// closesFull has a node stop while its disk is full, or its replica, and returns what the engine
// says if that does not tell of the operation that waits for the disk.
func closesFull(t *testing.T) (untold string) {
	node := closeFull(t, func(m *member, _ func()) { m.group.end(failaware.ErrClosed) })
	return node + closeFull(t, func(_ *member, stop func()) { stop() })
}

func closeFull(t *testing.T, end func(m *member, stop func())) (untold string) {
	synctest.Test(t, func(t *testing.T) {
		h, disk := new(hub), disktest.New()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		m := joinOn(ctx, t, h, 1, disk)
		h.view(m.group)
		synctest.Wait()
		disk.SetRoom(0)
		m.submit(t, strings.Repeat("x", 1<<13)) // more than the file has room for
		synctest.Wait()
		end(m, stop)
		if err := <-m.err; !errors.Is(err, journal.ErrFull) || !strings.HasPrefix(err.Error(), "replicate: Storage: ") {
			untold = err.Error()
		}
	})
	return untold
}

func TestAnOperationThatIsNotOnTheDiskIsTold(t *testing.T) { require.Empty(t, closesFull(t)) }

// breaks has the flush of the last operation fail, and returns what the engine makes of that if
// it does not end.
func breaks(t *testing.T) (goesOn string) {
	synctest.Test(t, func(t *testing.T) {
		h, disk := new(hub), disktest.New()
		ctx, stop := context.WithCancel(t.Context())
		m := joinOn(ctx, t, h, 1, disk)
		h.view(m.group)
		synctest.Wait()
		broken := errors.New("input/output error")
		disk.FailSync(broken)
		m.submit(t, "one")
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(m.err) == 0 {
			goesOn = "it waits for other operations"
		}
		stop()
		if err := <-m.err; goesOn == "" && !errors.Is(err, broken) {
			goesOn = err.Error()
		}
	})
	return goesOn
}

// Nobody else may come who would notice, and a caller waits for the disk.
func TestANodeEndsWithItsDisk(t *testing.T) { require.Empty(t, breaks(t)) }

// fills has the disk of a node without room, and then with room again. Meanwhile the node takes
// no operations, and its status says why.
func fills(t *testing.T) (wrong string) {
	synctest.Test(t, func(t *testing.T) {
		h, disk := new(hub), disktest.New()
		ctx, stop := context.WithCancel(t.Context())
		m := joinOn(ctx, t, h, 1, disk)
		h.view(m.group)
		expect := func(full error) {
			time.Sleep(10 * time.Second) // the writer tries again
			synctest.Wait()
			if s, _ := m.Status(); s.Accepting != (full == nil) || !errors.Is(s.Full, full) {
				wrong += fmt.Sprintf("accepting: %v, full: %v; ", s.Accepting, s.Full)
			}
		}
		expect(nil)
		disk.SetRoom(0)
		m.submit(t, strings.Repeat("x", 1<<13)) // more than the file has room for
		expect(journal.ErrFull)
		disk.SetRoom(-1)
		expect(nil)
		stop()
		<-m.err
	})
	return wrong
}

func TestAFullDiskTakesNoOperations(t *testing.T) { require.Empty(t, fills(t)) }

// tight is room for the state of others, as little as there is.
type tight struct {
	replica.Memory
	room *atomic.Int64
}

var errTight = errors.New("no room")

// Append implements [replica.Bytes].
func (b *tight) Append(p []byte) error {
	if int64(len(b.Memory)+len(p)) > b.room.Load() {
		return errTight
	}
	return b.Memory.Append(p)
}

// receivesWithoutRoom has a member without room for the state of others, and then with. Meanwhile
// it takes no operations, and its status says why.
func receivesWithoutRoom(t *testing.T) (wrong string) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		ctx, stop := context.WithCancel(t.Context())
		a := join(t, h, 1)
		h.view(a.group)
		a.submit(t, "one")
		var room atomic.Int64
		b := joinWith(ctx, t, h, 2, func() replica.Bytes { return &tight{room: &room} })
		h.view(a.group, b.group)
		for _, full := range []error{errTight, nil} {
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if s, _ := b.Status(); s.Accepting != (full == nil) || !errors.Is(s.Full, full) || s.Waits != (full != nil) {
				wrong += fmt.Sprintf("accepting: %v, full: %v, waits: %v; ", s.Accepting, s.Full, s.Waits)
			}
			room.Store(1 << 20)
		}
		stop()
		<-b.err
	})
	return wrong
}

func TestANodeWithoutRoomForTheStateSaysSo(t *testing.T) { require.Empty(t, receivesWithoutRoom(t)) }

// failsReceiving has the disk fail on which a member keeps the state that it gets. The member ends.
func failsReceiving(t *testing.T) (goesOn string) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		ctx, stop := context.WithCancel(t.Context())
		a := join(t, h, 1)
		h.view(a.group)
		a.submit(t, "one")
		b := joinWith(ctx, t, h, 2, NewSpool("/nonexistent", 1, true).NewPart)
		h.view(a.group, b.group)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(b.err) == 0 {
			goesOn = "it waits"
		}
		stop()
		if err := <-b.err; goesOn == "" && !errors.Is(err, fs.ErrNotExist) {
			goesOn = err.Error()
		}
	})
	return goesOn
}

func TestANodeEndsWithTheDiskForTheStateOfOthers(t *testing.T) { require.Empty(t, failsReceiving(t)) }

// A member whose disk has room names the one whose disk has none, which holds both up, once an
// operation has waited for more than a moment.
func TestAFullDiskOfAnotherNodeIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		ctx, stop := context.WithCancel(t.Context())
		var all []*member
		var disks []*disktest.Disk
		for id := range timed.NodeID(2) {
			disks = append(disks, disktest.New())
			all = append(all, joinOn(ctx, t, h, id+1, disks[id]))
		}
		h.view(all[0].group, all[1].group)
		expect := func(members timed.Set, after time.Duration) {
			time.Sleep(after)
			synctest.Wait()
			s, _ := all[0].Status()
			require.Equal(t, members, s.Unstored)
			require.True(t, s.Accepting)
			held := time.Duration(0)
			if !members.Empty() {
				held = longFlush
			}
			require.Equal(t, held, s.UnstoredFor)
		}
		expect(timed.Set{}, 10*time.Second)
		disks[1].SetRoom(0)
		all[0].submit(t, strings.Repeat("x", 1<<13))
		expect(timed.Set{}, longFlush-1)
		expect(timed.SetOf(2), 1)
		disks[1].SetRoom(-1)
		expect(timed.Set{}, 10*time.Second)
		stop()
		for _, m := range all {
			<-m.err
		}
	})
}

// A disk has what its application has, whatever brought the application there.
func TestDisksFollowTheirApplications(t *testing.T) { require.Empty(t, followed(t)) }

// unnamedStays has an application apply an operation while its state has no name. The disk then
// stays as it is, for it could not say what it has, and gets all of the state with the name.
func unnamedStays(t testing.TB) {
	app := &words{}
	e, err := New(replica.Config{}, new(hub).join(1), app, storeOn(t, disktest.New(), app), nil, nil)
	require.NoError(t, err)
	change := func(of replica.Effect) uint64 {
		done, err := e.change(t.Context(), &call{of, &incarnation{}})
		require.True(t, done)
		require.NoError(t, err)
		return e.store.keeper.Last()
	}
	operation := replica.Effect{Kind: replica.Apply, Delivery: broadcast.Delivery{ID: messageID(1), Position: 1, Payload: []byte("a")}, At: point(7, 1)}
	first := change(operation)
	require.NotZero(t, first)
	change(replica.Effect{Kind: replica.Locate})
	require.Equal(t, first, change(operation))
	require.Equal(t, first+2, change(replica.Effect{Kind: replica.Locate, Place: &replica.Place{View: point(7, 1).View}}))
	require.Equal(t, first+3, change(operation))
	require.NoError(t, e.store.Close())
}

func TestADiskWaitsForTheNameOfAState(t *testing.T) { unnamedStays(t) }
