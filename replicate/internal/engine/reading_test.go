package engine

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

var strict = broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}

// reader is a member whose broadcast is as far as a test says.
type reader struct {
	*member
	mu     sync.Mutex
	ahead  uint64 // decisions that are acknowledged, and not delivered
	seen   []string
	onRead func()
}

// reach implements the reach of package attach.
func (r *reader) reach() (broadcast.Reach, bool) {
	g := r.group
	g.hub.mu.Lock()
	defer g.hub.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return broadcast.Reach{View: g.view.ID, Have: g.position + r.ahead, Delivered: g.position, Position: g.position}, true
}

func (r *reader) setAhead(n uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ahead = n
}

// Readers hear of calls before the application gets them, or they would not know what they see.
func TestReadersHearOfCallsFirst(t *testing.T) {
	var e *Engine
	heard := uint64(0)
	e, err := New(replica.Config{}, nil, &words{}, nil, nil, func(Event) { heard = e.extent.calls })
	require.NoError(t, err)
	i := newIncarnation(e, Incarnation{})
	i.distribute([]replica.Effect{{Kind: replica.Beside}, {Kind: replica.Notify, Event: &replica.Event{}}})
	require.EqualValues(t, 1, heard)
	require.Equal(t, 1, e.calls.len())
}

// begin begins a read. The channel gets whether it succeeded.
func (r *reader) begin(ctx context.Context) <-chan bool {
	done := make(chan bool, 1)
	go func() {
		_, ok := r.ReadDelivered(ctx, r.reach, func() { r.seen = slices.Clone(r.app.list); r.onRead() })
		done <- ok
	}()
	synctest.Wait()
	return done
}

func (r *reader) say(t testing.TB, op string, opt broadcast.Options) {
	require.NoError(t, r.group.Broadcast(t.Context(), replica.AppendOp(nil, []byte(op)), opt))
}

// lone returns a reader at a lone member, whose application waits for the gate when it gets
// a message that is no operation.
func lone(t *testing.T, app Application, gate chan struct{}) *reader {
	r := &reader{member: &member{group: new(hub).join(1)}, onRead: func() {}}
	r.app, _ = app.(*words)
	var err error
	r.Engine, err = New(replica.Config{}, r.group, app, nil, func(broadcast.Delivery) { <-gate }, nil)
	require.NoError(t, err)
	go func() { _ = r.Run(t.Context()) }()
	return r
}

// unsure plays reads of what other members may not have.
func (r *reader) unsure(t *testing.T, check func(bool, string), waits func(<-chan bool, string)) {
	r.say(t, "four", total)
	synctest.Wait()
	began := time.Now()
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	check(!<-r.begin(soon) && time.Since(began) == 0, "other members may not have what was read, and nothing is under way")
	cancel()
	r.onRead = func() { r.setAhead(1) }
	late := r.begin(t.Context())
	waits(late, "other members may not have what was read")
	require.NoError(t, r.group.Broadcast(t.Context(), replica.AppendBarrier(nil), strict))
	check(<-late, "all members have what was read")
	r.setAhead(0)
	r.onRead = func() {
		r.say(t, "five", total)
		r.setAhead(1)
		time.Sleep(time.Millisecond)
	}
	late = r.begin(t.Context())
	waits(late, "other members may not have what came while it was read")
	require.NoError(t, r.group.Broadcast(t.Context(), replica.AppendBarrier(nil), strict))
	check(<-late, "all members have what came while it was read")
	r.onRead = func() {}
}

// readings plays reads of a lone member that must wait, and some that must not. It returns
// what went wrong first.
func readings(t *testing.T) (wrong string) {
	synctest.Test(t, func(t *testing.T) {
		check := func(ok bool, what string) {
			if !ok && wrong == "" {
				wrong = what
			}
		}
		gate := make(chan struct{})
		r := lone(t, &words{}, gate)
		waits := func(done <-chan bool, what string) {
			time.Sleep(time.Second)
			check(len(done) == 0, what+": does not wait")
		}
		h := r.group.hub
		h.view(r.group)
		synctest.Wait()
		r.say(t, "one", strict)
		check(<-r.begin(t.Context()) && slices.Equal(r.seen, []string{"one"}), "at rest")

		require.NoError(t, r.group.Broadcast(t.Context(), replica.AppendBeside(nil, nil), strict))
		r.say(t, "two", strict)
		synctest.Wait()
		late := r.begin(t.Context())
		waits(late, "the application is behind")
		close(gate)
		check(<-late && slices.Equal(r.seen, []string{"one", "two"}), "the application was behind")

		r.setAhead(1)
		late = r.begin(t.Context())
		waits(late, "not all that is acknowledged is delivered")
		r.setAhead(0)
		r.say(t, "three", strict)
		check(<-late && slices.Equal(r.seen, []string{"one", "two", "three"}), "all is delivered")

		r.unsure(t, check, waits)

		r.setAhead(5)
		late = r.begin(t.Context())
		synctest.Wait() // it has seen how much is acknowledged
		for range 6 {
			r.say(t, "more", strict)
			time.Sleep(time.Second)
		}
		check(len(late) == 1 && <-late, "others write all the time")

		late = r.begin(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		given := r.begin(ctx)
		cancel()
		check(!<-given, "the caller gave up")
		h.view(r.group)
		check(!<-late, "the view has ended")
	})
	return wrong
}

func TestReadsWaitForWhatIsAcknowledged(t *testing.T) { require.Empty(t, readings(t)) }

// A read waits for the calls that were before it, and not for those that follow while the
// application is behind all the time.
func TestAReadWaitsForNoLaterCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := lone(t, &words{}, gate)
		r.group.hub.view(r.group)
		synctest.Wait()
		r.say(t, "one", strict)
		synctest.Wait()
		call := func() { require.NoError(t, r.group.Broadcast(t.Context(), replica.AppendBeside(nil, nil), strict)) }
		call()
		call()
		synctest.Wait()
		read := r.begin(t.Context())
		for range 2 {
			require.Empty(t, read)
			call()
			synctest.Wait()
			time.Sleep(patience) // it looks again
			gate <- struct{}{}
			synctest.Wait()
		}
		require.Len(t, read, 1)
		require.True(t, <-read)
		close(gate)
	})
}

// inside is an application that reads itself.
type inside struct {
	*words
	read func() bool
}

func (i *inside) Apply(op broadcast.Delivery) any {
	if i.read() {
		i.list = append(i.list, "itself")
	}
	return i.words.Apply(op)
}

func TestAReadInsideTheApplicationDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := &inside{words: &words{}}
		r := lone(t, app, nil)
		app.read = func() bool {
			_, ok := r.ReadDelivered(t.Context(), r.reach, func() {})
			return ok
		}
		r.group.hub.view(r.group)
		synctest.Wait()
		r.say(t, "one", strict)
		synctest.Wait()
		require.Equal(t, []string{"one"}, app.list)
	})
}

// countsCalls requires that readers wait for as many calls of the application as an effect makes.
func countsCalls(t testing.TB) {
	for k := replica.Broadcast; k <= replica.Withdraw; k++ {
		want := 1
		if k == replica.Broadcast || k == replica.Notify {
			want = 0
		}
		require.Equal(t, want, callsIn([]replica.Effect{{Kind: k}}), "%v", k)
	}
	var x extent
	view := membership.ViewID{Sequence: 1, Leader: 1, Boot: 7}
	sum := uint64(0)
	for _, calls := range []int{1, 0, 3, 0, 64, 2} { // of effects that came at once
		sum += uint64(calls)
		x.publish(replica.Extent{View: view, Last: sum}, calls)
		_, all, ok := x.load(view)
		require.True(t, ok)
		require.Equal(t, sum, all, "a reader waits for each of them")
	}
}

func TestReadersWaitForAllCalls(t *testing.T) { countsCalls(t) }
