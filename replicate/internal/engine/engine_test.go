package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/timed"
)

var total = broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity}

// words is a list of words; merged lists are sorted.
type words struct {
	list []string
	fail error
	gate chan struct{} // if not nil, Apply waits until it is closed
}

func (w *words) Apply(op broadcast.Delivery) any {
	if w.gate != nil {
		<-w.gate
	}
	w.list = append(w.list, string(op.Payload))
	return nil
}
func (w *words) Save(to io.Writer) error {
	_, err := io.WriteString(to, strings.Join(w.list, " "))
	return err
}
func (w *words) Load(r io.Reader) error {
	list, err := wordsIn(r)
	w.list = list
	return errors.Join(err, w.fail)
}
func wordsIn(r io.Reader) ([]string, error) {
	b, err := io.ReadAll(r)
	return strings.Fields(string(b)), err
}
func (w *words) Hash() uint64 { return uint64(len(w.list)) }
func (w *words) Merge(bs []replica.Branch) error {
	list, err := wordsOf(bs)
	if err != nil {
		return err
	}
	w.list = list
	return w.fail
}

// wordsOf returns the sorted words of all branches.
func wordsOf(bs []replica.Branch) (all []string, err error) {
	for _, b := range bs {
		list, err := wordsIn(b.State.Reader())
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// member is an engine at work.
type member struct {
	*Engine
	app   *words
	group *fakeMember
	err   chan error
}

func join(t *testing.T, h *hub, id timed.NodeID) *member {
	return joinWith(t.Context(), t, h, id, nil)
}

// joinWith has a member keep the state that it gets in its own way, or nil, until ctx is done.
func joinWith(ctx context.Context, t *testing.T, h *hub, id timed.NodeID, part func() replica.Bytes) *member {
	return h.run(ctx, t, id, &words{}, replica.Config{HashEvery: 2, NewPart: part}, nil)
}

// run has a member with an application and its store, or nil, until ctx is done.
func (h *hub) run(ctx context.Context, t *testing.T, id timed.NodeID, app *words, cfg replica.Config, store *Store) *member {
	m := &member{app: app, group: h.join(id), err: make(chan error, 1)}
	e, err := New(cfg, m.group, app, store, nil, nil)
	require.NoError(t, err)
	m.Engine = e
	go func() { m.err <- e.Run(ctx) }()
	return m
}

// submit broadcasts an operation, once operations are accepted.
func (m *member) submit(t testing.TB, op string) {
	t.Helper()
	for {
		status, changed := m.Status()
		if status.Accepting {
			require.NoError(t, m.group.Broadcast(t.Context(), replica.AppendOp(nil, []byte(op)), total))
			return
		}
		<-changed
	}
}

func TestGroupSplitsAndMerges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		a, b, c := join(t, h, 1), join(t, h, 2), join(t, h, 3)
		h.view(a.group, b.group)
		a.submit(t, "one")
		h.view(a.group)
		h.view(b.group, c.group)
		a.submit(t, "two")
		c.submit(t, "three")
		synctest.Wait()
		require.Equal(t, []string{"one", "three"}, c.app.list)
		h.view(a.group, b.group, c.group)
		b.submit(t, "four")
		time.Sleep(time.Second)
		synctest.Wait()
		for _, m := range []*member{a, b, c} {
			require.Equal(t, []string{"one", "three", "two", "four"}, m.app.list)
			status, _ := m.Status()
			require.Equal(t, replica.Working, status.Situation)
			require.False(t, status.Waits)
		}
	})
}

// differing has two members, of whom one has the wrong state.
func differing(t testing.TB) (told []replica.Event) {
	h := new(hub)
	var mu sync.Mutex
	var members []*member
	for id := range timed.NodeID(2) {
		m := &member{app: &words{}, group: h.join(id + 1)}
		e, err := New(replica.Config{HashEvery: 2}, m.group, m.app, nil, nil, func(v Event) {
			if v.Kind == replica.EventDiverged {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, v.Event)
			}
		})
		require.NoError(t, err)
		m.Engine = e
		go func() { _ = e.Run(t.Context()) }()
		members = append(members, m)
	}
	h.view(members[0].group, members[1].group)
	members[0].submit(t, "one")
	synctest.Wait()
	members[1].app.list = append(members[1].app.list, "wrong")
	members[0].submit(t, "two")
	members[0].submit(t, "three")
	time.Sleep(time.Second)
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	return told
}

// Members tell each other the hashes of their states.
func TestMembersWithOtherStatesAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := differing(t)
		require.NotEmpty(t, told)
		require.NotEqual(t, told[0].Ours, told[0].Theirs)
	})
}

// A member that lags makes no snapshots for others if another member can.
func TestAJoinerGetsTheStateFromTheMemberThatLagsLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		slow, quick, joiner := join(t, h, 1), join(t, h, 2), join(t, h, 3)
		slow.app.gate = make(chan struct{})
		h.view(slow.group, quick.group)
		for _, word := range []string{"one", "two", "three"} {
			quick.submit(t, word)
		}
		synctest.Wait()
		require.NotZero(t, slow.Behind())
		h.view(slow.group, quick.group, joiner.group)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"one", "two", "three"}, joiner.app.list)
		close(slow.app.gate)
		synctest.Wait()
		require.Equal(t, joiner.app.list, slow.app.list)
	})
}

// A call that lasts is told once, with what waits for it, and the next one that lasts again.
func TestALastingCallIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		var mu sync.Mutex
		var told []Event
		m := &member{app: &words{}, group: h.join(1)}
		e, err := New(replica.Config{}, m.group, m.app, nil, nil, func(v Event) {
			mu.Lock()
			defer mu.Unlock()
			if v.Hangs > 0 {
				told = append(told, v)
			}
		})
		require.NoError(t, err)
		m.Engine = e
		go func() { _ = e.Run(t.Context()) }()
		h.view(m.group)
		synctest.Wait()
		for call := 1; call <= 2; call++ {
			m.app.gate = make(chan struct{})
			m.submit(t, "one")
			m.submit(t, "two")
			time.Sleep(2 * time.Minute)
			close(m.app.gate)
			synctest.Wait()
			require.Len(t, told, call)
			got := told[call-1]
			require.GreaterOrEqual(t, got.Hangs, hangsAfter)
			require.LessOrEqual(t, got.Hangs, 2*hangsAfter)
			require.Equal(t, 1, got.Waiting)
			status, _ := m.Status()
			require.Equal(t, status.View, got.View)
			m.app.gate = nil
		}
		time.Sleep(2 * time.Minute)
		require.Len(t, told, 2, "nothing lasts")
	})
}

// watched are words that note how much waits behind each operation.
type watched struct {
	words
	behind func() int
	waits  []int
}

func (w *watched) Apply(op broadcast.Delivery) any {
	w.waits = append(w.waits, w.behind())
	return w.words.Apply(op)
}

// miscounted has a member wait for the state while operations come, which it then applies one
// after the other. Each waits until its turn comes, and no longer. It returns how many are said
// to wait where that is wrong.
func miscounted(t *testing.T) (wrong []int) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		a := join(t, h, 1)
		app := &watched{}
		m := &member{group: h.join(2), err: make(chan error, 1)}
		e, err := New(replica.Config{}, m.group, app, nil, nil, nil)
		require.NoError(t, err)
		m.Engine, app.behind = e, e.Behind
		go func() { m.err <- e.Run(t.Context()) }()
		h.view(a.group)
		a.submit(t, "one")
		synctest.Wait()
		a.app.gate = make(chan struct{})
		a.submit(t, "two") // the snapshot waits for this
		synctest.Wait()
		h.view(a.group, m.group)
		for _, word := range []string{"three", "four", "five", "six"} {
			m.submit(t, word)
		}
		synctest.Wait()
		close(a.app.gate)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, a.app.list, app.list)
		for i, waits := range append(app.waits, e.Behind()) {
			if waits != max(0, 3-i) {
				wrong = append(wrong, waits)
			}
		}
	})
	return wrong
}

func TestOperationsWaitUntilTheirTurn(t *testing.T) { require.Empty(t, miscounted(t)) }

// goesOver has incarnations of a member end: in a view, in one that has not settled, and in
// none. It returns how the states differ from all that was applied.
func goesOver(t *testing.T) (differences []string) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		a, silent, b := join(t, h, 1), h.join(2), join(t, h, 3)
		h.view(a.group)
		a.submit(t, "one")
		synctest.Wait()
		a.group.end(ErrNextIncarnation)
		synctest.Wait()
		h.view(a.group)
		a.submit(t, "two")
		synctest.Wait()
		h.view(a.group, silent) // which reports nothing
		a.submit(t, "three")
		synctest.Wait()
		a.group.end(ErrNextIncarnation)
		synctest.Wait()
		a.group.end(ErrNextIncarnation)
		synctest.Wait()
		h.view(a.group, b.group)
		time.Sleep(time.Second)
		b.submit(t, "four")
		synctest.Wait()
		for _, m := range []*member{a, b} {
			if want := []string{"one", "two", "three", "four"}; !slices.Equal(want, m.app.list) {
				differences = append(differences, fmt.Sprint(m.app.list))
			}
		}
		if a.restores != 0 || b.restores != 1 {
			differences = append(differences, fmt.Sprintf("%d and %d states were replaced", a.restores, b.restores))
		}
	})
	return differences
}

func TestAStateGoesOverIntoTheNextIncarnation(t *testing.T) { require.Empty(t, goesOver(t)) }

// The result of a call that lasts longer than its incarnation is for nobody, and the application
// goes on.
func TestAResultThatComesLateHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		m := &member{app: &words{gate: make(chan struct{})}, group: h.join(1)}
		var err error
		m.Engine, err = New(replica.Config{HashEvery: 1}, m.group, m.app, nil, nil, nil)
		require.NoError(t, err)
		go func() { _ = m.Run(t.Context()) }()
		h.view(m.group)
		m.submit(t, "one") // and the state is hashed
		synctest.Wait()
		m.group.end(ErrNextIncarnation)
		synctest.Wait()
		h.view(m.group)
		m.submit(t, "two")
		synctest.Wait()
		close(m.app.gate)
		synctest.Wait()
		require.Equal(t, []string{"one", "two"}, m.app.list)
	})
}

// Operations are accepted in a view only.
func TestOperationsAreAcceptedInAView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		a := join(t, h, 1)
		synctest.Wait()
		status, changed := a.Status()
		require.Equal(t, Status{}, status)
		h.view(a.group)
		<-changed
		synctest.Wait()
		status, _ = a.Status()
		require.True(t, status.Accepting)
	})
}

func TestAnApplicationThatFailsEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		a, b := join(t, h, 1), join(t, h, 2)
		b.app.fail = errors.New("disk full")
		h.view(a.group)
		a.submit(t, "x")
		synctest.Wait()
		h.view(a.group, b.group)
		require.ErrorIs(t, <-b.err, b.app.fail)
	})
}

func TestManyOperationsOfASlowApplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		a := join(t, h, 1)
		h.view(a.group)
		for range 5000 {
			a.submit(t, "x")
		}
		synctest.Wait()
		require.Len(t, a.app.list, 5000)
	})
}

type plain struct{ Application }

func TestHashEveryNeedsAHash(t *testing.T) {
	_, err := New(replica.Config{HashEvery: 1}, nil, plain{}, nil, nil, nil)
	require.ErrorIs(t, err, ErrNoHasher)
}
