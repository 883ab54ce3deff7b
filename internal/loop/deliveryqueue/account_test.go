package deliveryqueue

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/broadcast"
)

// account is what a queue must say, kept in the plainest way.
type account struct {
	q           *Queue
	staged      []owed
	items       []owed // committed and not returned
	lent        int    // how many of them are borrowed
	incarnation int
	taken       Taken
	ended       []broadcast.Loan
}

type owed struct {
	kind        Kind
	size        int
	loan        broadcast.Loan
	incarnation int
}

// loans are of three chunks, which only a broadcast can make in another way.
var loans = []broadcast.Loan{newLoan(), newLoan(), newLoan()}

func newLoan() (l broadcast.Loan) {
	chunk := reflect.ValueOf(&l).Elem().Field(0)
	reflect.NewAt(chunk.Type(), unsafe.Pointer(&l)).Elem().Set(reflect.New(chunk.Type().Elem()))
	return l
}

func (a *account) backlog() (bytes int64) {
	for _, i := range a.items {
		bytes += int64(i.size + itemOverhead)
	}
	return bytes
}

// giveBack returns the first n items, and reports whether the loop should hear of it.
func (a *account) giveBack(n int) (eased bool) {
	eased = n > 0 && a.q.Behind()
	for _, i := range a.items[:n] {
		if i.kind != Message || i.incarnation != a.incarnation {
			continue
		}
		a.taken.Bytes += i.size
		a.taken.Count++
		if i.loan != (broadcast.Loan{}) {
			a.ended = append(a.ended, i.loan)
		}
	}
	a.items = a.items[n:]
	return eased
}

// stage stages an item of any kind.
func (a *account) stage(t *rapid.T) {
	i := owed{Message, rapid.IntRange(0, 200).Draw(t, "size"), broadcast.Loan{}, a.incarnation}
	if rapid.Bool().Draw(t, "lent") {
		i.loan = rapid.SampledFrom(loans).Draw(t, "loan")
	}
	if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
		i.kind, i.loan = Installed, broadcast.Loan{}
	}
	it := a.q.Stage()
	it.Kind, it.Message.Payload = i.kind, make([]byte, i.size)
	it.Lend(i.loan)
	a.staged = append(a.staged, i)
}

// commit commits what is staged, which wakes a consumer that waits.
func (a *account) commit(t *rapid.T) {
	waited := a.q.waiting
	require.Equal(t, waited && len(a.staged) > 0, a.q.Commit(), "woke")
	if waited && len(a.staged) > 0 {
		<-a.q.Ready()
	}
	a.items, a.staged = append(a.items, a.staged...), nil
}

// The queue accounts for every item: what waits, what the application has taken of the
// present incarnation, and which loans have ended.
func TestEveryItemIsAccountedFor(t *testing.T) { accountedFor(t) }

func accountedFor(t rapid.TB) {
	rapid.Check(t, func(t *rapid.T) {
		a := &account{q: New(1000, false)}
		a.q.ring, a.q.spare = make([]Item, 2), 2 // so that it grows, also while items are borrowed
		t.Repeat(map[string]func(*rapid.T){
			"stage":  a.stage,
			"commit": a.commit,
			"borrow": func(t *rapid.T) {
				most := rapid.IntRange(1, 5).Draw(t, "most")
				want := a.giveBack(a.lent)
				got, eased, closed := a.q.Borrow(most)
				require.Equal(t, want, eased)
				require.False(t, closed)
				require.LessOrEqual(t, len(got), min(most, len(a.items)))
				require.Equal(t, len(a.items) == 0, len(got) == 0)
				a.lent = len(got)
			},
			"borrow more": func(t *rapid.T) {
				got, _ := a.q.BorrowMore(1)
				require.Equal(t, min(1, len(a.items)-a.lent), len(got))
				a.lent += len(got)
			},
			"unread": func(t *rapid.T) {
				if a.lent < 2 {
					return
				}
				n := rapid.IntRange(1, a.lent-1).Draw(t, "n")
				want := a.giveBack(a.lent - n - 1)
				a.lent = 1
				require.Equal(t, want, a.q.Unread(n))
			},
			"returned": func(t *rapid.T) {
				taken, ended := a.q.Returned()
				require.Equal(t, a.taken, taken)
				var loans []broadcast.Loan
				for _, r := range ended {
					for range r.Count {
						loans = append(loans, r.Loan)
					}
				}
				require.Equal(t, a.ended, loans)
				a.taken, a.ended = Taken{}, nil
			},
			"restart": func(t *rapid.T) {
				if len(a.staged) > 0 {
					return
				}
				a.q.Restart()
				a.incarnation++
				a.taken, a.ended = Taken{}, nil
			},
			"": func(t *rapid.T) {
				require.Equal(t, a.backlog(), a.q.Backlog())
				require.Equal(t, a.backlog() > 500, a.q.Behind())
			},
		})
	})
}

// A closed queue wakes its consumer, and still hands out what it has.
func TestACloseWakesTheConsumer(t *testing.T) {
	q := New(1000, true)
	require.True(t, q.Acquire())
	require.False(t, q.Acquire(), "there is one")
	q.Release()
	require.False(t, q.Keeps())
	q.Keep()
	require.True(t, q.Keeps())
	require.True(t, q.Acquire())
	require.False(t, q.Touched())
	q.Stage().Kind = Message
	q.Close()
	<-q.Ready()
	require.False(t, q.Commit(), "nobody waits")
	got, _, closed := q.Borrow(9)
	require.Len(t, got, 1)
	require.True(t, closed && q.Touched())
	got, _, closed = q.Borrow(9)
	require.Empty(t, got)
	require.True(t, closed)
	require.False(t, q.waiting, "nothing will come")
}

// With the check, a consumer that changes what it has borrowed is told.
func TestAChangedPayloadIsNoticed(t *testing.T) { changedPayload(t) }

func changedPayload(t testing.TB) {
	q := New(1000, true)
	it := q.Stage()
	it.Kind, it.Message.Payload = Message, []byte("borrowed")
	q.Commit()
	got, _, _ := q.Borrow(1)
	got[0].Message.Payload[0]++
	require.Panics(t, func() { q.Borrow(1) })

	q = New(1000, true)
	for range 2 {
		it := q.Stage()
		it.Kind, it.Message.Payload = Message, []byte("borrowed")
	}
	q.Commit()
	got, _, _ = q.Borrow(2)
	got[1].Message.Payload[0]++
	q.Unread(1)
	q.Borrow(1)
	require.Panics(t, func() { q.Borrow(1) }, "it was changed before it was borrowed again")
}
