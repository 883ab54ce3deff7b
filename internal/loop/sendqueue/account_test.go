package sendqueue

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// receiver takes messages as the layers of a node do.
type receiver struct {
	*broadcast.Service
	memory map[broadcast.Slab][]byte
	used   []broadcast.Slab // not closed, in the order of their first messages
	room   int              // messages that it takes
	got    []sent
}

// sent is a message that was queued.
type sent struct {
	payload  string
	opt      broadcast.Options
	sequence uint64
	waiter   *Waiter
}

var errNoRoom = errors.New("no room")

func newReceiver() *receiver {
	return &receiver{Service: broadcast.New(broadcast.Config{}), memory: map[broadcast.Slab][]byte{}}
}

func (r *receiver) TakeSlab() (broadcast.Slab, []byte) {
	b, mem := r.Service.TakeSlab()
	r.memory[b] = mem[:cap(mem)]
	return b, mem
}

func (r *receiver) Broadcast(_ timed.Instant, payload []byte, opt broadcast.Options) (broadcast.ID, error) {
	if r.room == 0 {
		return broadcast.ID{}, errNoRoom
	}
	r.room--
	r.got = append(r.got, sent{payload: string(payload), opt: opt})
	return broadcast.ID{}, nil
}

func (r *receiver) BroadcastSlab(now timed.Instant, b broadcast.Slab, off, n int, opt broadcast.Options) (broadcast.ID, error) {
	id, err := r.Broadcast(now, r.memory[b][off:off+n], opt)
	if err == nil && (len(r.used) == 0 || r.used[len(r.used)-1] != b) {
		r.used = append(r.used, b)
	}
	return id, err
}

func (r *receiver) CloseSlab(b broadcast.Slab) {
	if len(r.used) == 0 || r.used[0] != b {
		panic("a slab is closed before its messages have come, or again")
	}
	r.used = r.used[1:]
}

// account is what a queue must do, kept in the plainest way.
type account struct {
	q         *Queue
	receivers [2]*receiver
	boot      timed.BootID
	wakes     int
	looked    bool // since the last call of Wake
	refuses   bool
	in, out   [2][]sent // queued, and taken by the loop
	last      [2]uint64
	filled    [2][lanes]int // bytes that wait in a class, by lane
	waiting   [2][]sent     // for an outcome
	under     [2][]sent     // handed over, without an outcome
}

const packetBytes = 1000

func weight(of []sent) (n int) {
	for _, m := range of {
		n += len(m.payload) + MessageOverhead
	}
	return n
}

var orders = []broadcast.Order{broadcast.TotalOrder, broadcast.TimedOrder, broadcast.Unordered}

// send queues a message of any size, or finds out why not.
func (a *account) send(t *rapid.T) {
	size := rapid.SampledFrom([]int{0, 1, 2, 300, packetBytes, packetBytes + 1, 20_000, broadcast.SlabBytes,
		classBytes - MessageOverhead}).Draw(t, "size")
	opt := broadcast.Options{Order: rapid.SampledFrom(orders).Draw(t, "order"), Atomicity: broadcast.StrongAtomicity}
	payload := make([]byte, size)
	r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "content")))
	for i := range payload {
		payload[i] = byte(r.Uint32())
	}
	m := sent{payload: string(payload), opt: opt}
	var queued func(broadcast.ID)
	if rapid.Bool().Draw(t, "awaited") {
		m.waiter = a.q.NewWaiter()
		queued = m.waiter.Queued
	}
	c := opt.Order.Class()
	lane := rapid.SampledFrom([]Lane{Application, State}).Draw(t, "lane")
	wakes, full := a.wakes, weight(a.in[c]) >= classBytes && a.filled[c][lane] >= laneBytes[lane]
	id, err := a.q.Send(context.Background(), lane, payload, opt, queued, true)
	clear(payload) // it was copied
	switch {
	case a.refuses && c == broadcast.ClassOrdered:
		require.ErrorIs(t, err, broadcast.ErrNoQuorum)
	case full:
		require.ErrorIs(t, err, broadcast.ErrWindowFull)
	default:
		require.NoError(t, err)
		a.last[c] += max(1, uint64(size+packetBytes-1)/packetBytes)
		m.sequence = a.last[c]
		require.Equal(t, broadcast.ID{Sender: 3, Boot: a.boot, Class: c, Sequence: m.sequence}, id)
		a.in[c] = append(a.in[c], m)
		a.filled[c][lane] += len(m.payload) + MessageOverhead
		if m.waiter != nil {
			a.waiting[c] = append(a.waiting[c], m)
		}
		require.Equal(t, a.looked, a.wakes > wakes, "the loop is woken if it has looked")
		a.looked = false
	}
	require.LessOrEqual(t, a.wakes, wakes+1)
}

// take has the loop take what its broadcast has room for.
func (a *account) take(t *rapid.T) {
	a.q.Look()
	a.looked = true
	for c := range broadcast.Class(2) {
		r := a.receivers[c]
		r.room = rapid.SampledFrom([]int{0, 1, 2, 1000}).Draw(t, "room")
		for a.q.Refill(c, r) {
			if len(a.out[c]) == 0 {
				a.out[c], a.in[c], a.filled[c] = a.in[c], nil, [lanes]int{}
				require.Len(t, a.q.classes[c].slabs, classSlabs, "callers have slabs again")
			}
			n, err := a.q.HandOver(c, 0, r)
			if err != nil {
				require.ErrorIs(t, err, errNoRoom)
				require.Zero(t, n)
				break
			}
			want := a.out[c][0]
			a.out[c] = a.out[c][1:]
			a.under[c] = append(a.under[c], want)
			got := r.got[0]
			r.got = r.got[:0]
			require.True(t, got.payload == want.payload && got.opt == want.opt)
			require.Equal(t, len(want.payload)+MessageOverhead, n)
			require.LessOrEqual(t, len(r.used), 1, "slabs are closed in turn")
		}
		if r.room > 0 {
			require.Empty(t, a.out[c])
			require.Empty(t, a.in[c])
		}
	}
}

// resolve tells the outcomes of some messages.
func (a *account) resolve(t *rapid.T) {
	c := rapid.SampledFrom([]broadcast.Class{broadcast.ClassUnordered, broadcast.ClassOrdered}).Draw(t, "class")
	n := rapid.IntRange(0, len(a.under[c])).Draw(t, "messages")
	why := rapid.SampledFrom([]Loss{NotLost, OrderedElsewhere}).Draw(t, "why")
	var all []Outcome
	for i, m := range a.under[c][:n] {
		if why == NotLost || i == n-1 {
			all = append(all, Outcome{Message: broadcast.Delivery{ID: broadcast.ID{Class: c, Sequence: m.sequence}, Position: 9}, Lost: why})
		}
	}
	a.q.Resolve(all)
	for _, m := range a.under[c][:n] {
		if m.waiter != nil {
			o := a.result(t, m)
			require.Equal(t, why, o.Lost)
			if why == NotLost {
				require.Equal(t, m.sequence, o.Message.Sequence)
			}
			a.waiting[c] = a.waiting[c][1:]
		}
	}
	a.under[c] = a.under[c][n:]
}

func (a *account) result(t *rapid.T, m sent) (o Outcome) {
	select {
	case o = <-m.waiter.Result:
		a.q.Free(m.waiter)
	default:
		t.Fatal("a caller waits for ever")
	}
	return o
}

// restart begins another incarnation.
func (a *account) restart(t *rapid.T) {
	a.boot++
	a.q.Restart(a.boot)
	for c := range a.waiting {
		for _, m := range a.waiting[c] {
			require.Equal(t, IncarnationEnded, a.result(t, m).Lost)
		}
		a.receivers[c] = newReceiver()
	}
	a.filled = [2][lanes]int{}
	a.in, a.out, a.under, a.waiting, a.last, a.refuses = [2][]sent{}, [2][]sent{}, [2][]sent{}, [2][]sent{}, [2]uint64{}, false
}

// A queue hands over all messages in their order, whole, and every caller that waits
// hears once what became of its message.
func TestAQueueDoesAsItsAccountSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &account{looked: true}
		a.q = New(Options{Self: 3, PacketBytes: packetBytes, Wake: func() { a.wakes++ }})
		a.restart(t)
		t.Repeat(map[string]func(*rapid.T){
			"send": a.send, "send more": a.send, "take": a.take, "resolve": a.resolve,
			"restart": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "often") == 0 {
					a.restart(t)
				}
			},
			"refuse": func(t *rapid.T) {
				a.refuses = rapid.IntRange(0, 3).Draw(t, "refuses") == 0
				a.q.Refuse(a.refuses)
			},
			"": func(t *rapid.T) {
				for c := range broadcast.Class(2) {
					require.Equal(t, len(a.waiting[c]) > 0, a.q.Awaited(c))
				}
			},
		})
	})
}

// sender returns a function that has a goroutine send a message that fills its class. done
// and last count the calls that returned in each class, and have the last error.
func sender(q *Queue, done *[2]int, last *[2]error) func(context.Context, broadcast.Order) {
	return func(ctx context.Context, order broadcast.Order) {
		c := order.Class()
		go func() {
			_, err := q.Send(ctx, Application, make([]byte, classBytes), broadcast.Options{Order: order, Atomicity: broadcast.WeakAtomicity}, nil, false)
			done[c]++
			last[c] = err
		}()
		synctest.Wait()
	}
}

// Callers that find no room wait for it. They are woken for room, for a refusal, and at
// the end, and one that gives up leaves its room to the next.
func TestCallersWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Self: 1, PacketBytes: packetBytes, Wake: func() {}})
		q.Restart(1)
		r := newReceiver()
		var done [2]int
		var last [2]error
		send := sender(q, &done, &last)
		take := func(c broadcast.Class) {
			r.room = 1
			require.True(t, q.Refill(c, r))
			_, err := q.HandOver(c, 0, r)
			require.NoError(t, err)
			synctest.Wait()
		}
		const o, u = broadcast.ClassOrdered, broadcast.ClassUnordered
		for range 3 {
			send(t.Context(), broadcast.TotalOrder)
			send(t.Context(), broadcast.Unordered)
		}
		require.Equal(t, [2]int{1, 1}, done, "each class has room for one")
		take(o)
		require.Equal(t, [2]int{o: 2, u: 1}, done)
		ctx, cancel := context.WithCancelCause(t.Context())
		send(ctx, broadcast.Unordered)
		cause := errors.New("no time")
		cancel(cause)
		synctest.Wait()
		require.ErrorIs(t, last[u], broadcast.ErrWindowFull)
		require.ErrorIs(t, last[u], cause)
		require.Equal(t, 2, done[u])
		require.Equal(t, 2, q.classes[u].waiting[Application])
		take(u)
		take(u)
		require.Equal(t, 4, done[u], "all others have had room")
		send(t.Context(), broadcast.Unordered)
		require.Equal(t, 4, done[u])
		q.Refuse(true)
		synctest.Wait()
		require.Equal(t, [2]int{o: 3, u: 4}, done, "nobody waits in vain for a quorum")
		require.ErrorIs(t, last[o], broadcast.ErrNoQuorum)
		q.Refuse(false)
		send(t.Context(), broadcast.TotalOrder)
		require.Equal(t, 3, done[o])
		q.Restart(2)
		synctest.Wait()
		require.Equal(t, [2]int{o: 4, u: 5}, done, "another incarnation has room")
		require.NoError(t, errors.Join(last[:]...))
		send(t.Context(), broadcast.TotalOrder)
		send(t.Context(), broadcast.Unordered)
		q.Close()
		synctest.Wait()
		require.Equal(t, [2]int{o: 5, u: 6}, done)
		require.ErrorIs(t, last[o], ErrClosed)
		require.ErrorIs(t, last[u], ErrClosed)
	})
}

// A caller that was woken and gives up wakes the next.
func TestACallerThatGivesUpWakesTheNext(t *testing.T) { wakesTheNext(t) }

func wakesTheNext(t testing.TB) {
	q := New(Options{Self: 1, PacketBytes: packetBytes, Wake: func() {}})
	r := newReceiver()
	opt := broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}
	class := opt.Order.Class()
	put := func(at *place) error {
		_, _, err := q.put(Application, bytes.Repeat([]byte{1}, classBytes), opt, nil, true, at)
		return err
	}
	var first, second, third place
	require.NoError(t, put(&first))
	require.ErrorIs(t, put(&second), broadcast.ErrWindowFull)
	require.ErrorIs(t, put(&third), broadcast.ErrWindowFull)
	woken := func() {
		require.Len(t, q.classes[class].room[Application], 1, "nobody is woken")
		<-q.classes[class].room[Application]
	}
	q.Refill(class, r)
	woken() // one of them, who has no time
	q.giveUp(class, Application, second)
	woken()
	require.NoError(t, put(&third))
	q.classes[class].next = 1
	q.Refill(class, r)
	require.Zero(t, len(q.classes[class].room[Application]), "nobody waits any more")
}

// Payloads that fit stand in slabs, one behind the other, and each slab is closed once,
// when no more of it comes. Nobody copies them again.
func TestPayloadsStandInSlabs(t *testing.T) {
	q := New(Options{Self: 1, PacketBytes: packetBytes, Wake: func() {}})
	r := newReceiver()
	opt := broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}
	class := opt.Order.Class()
	send := func(size int) {
		_, err := q.Send(t.Context(), Application, make([]byte, size), opt, nil, true)
		require.NoError(t, err)
	}
	take := func() (slabs []broadcast.Slab) {
		r.room = 100
		for q.Refill(class, r) {
			slabs = append(slabs, q.classes[class].out.messages[q.classes[class].next].slab)
			_, err := q.HandOver(class, 0, r)
			require.NoError(t, err)
		}
		return slabs
	}
	require.Empty(t, take())
	require.Empty(t, q.classes[class].slabs, "a node that sends nothing has none")
	send(1)
	var none broadcast.Slab
	require.Equal(t, []broadcast.Slab{none}, take())
	for _, size := range []int{300, 200, broadcast.SlabBytes + 1, 100, broadcast.SlabBytes} {
		send(size)
	}
	slabs := take()
	require.Len(t, slabs, 5)
	a, b := slabs[0], slabs[4]
	require.Equal(t, []broadcast.Slab{a, a, none, a, b}, slabs)
	require.True(t, a != none && b != none && a != b)
	require.Equal(t, []broadcast.Slab{b}, r.used)
}
