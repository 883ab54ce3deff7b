package broadcast

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// borrower is the application of a machine that keeps some payloads for a while.
type borrower struct {
	s    *Service
	kept []kept
}

// kept is a borrowed payload and its expected bytes.
type kept struct {
	loan    Loan
	payload []byte
	is      string
}

func (b *borrower) take(d *Delivery) {
	l := b.s.Borrow(d)
	b.kept = append(b.kept, kept{l, d.Payload, string(d.Payload)})
}

// giveBack gives the i-th payload back, and reports whether it is unchanged.
func (b *borrower) giveBack(i int) bool {
	k := b.kept[i]
	b.kept[i] = b.kept[len(b.kept)-1]
	b.kept = b.kept[:len(b.kept)-1]
	same := string(k.payload) == k.is
	b.s.GiveBack(k.loan, 1)
	return same
}

// borrowers attaches an application to each machine of a trio.
func (t *trio) borrowers() []borrower {
	all := make([]borrower, len(t.nodes))
	for i, s := range t.nodes {
		all[i].s = s
	}
	t.take = func(i int, d *Delivery) { all[i].take(d) }
	return all
}

// paint returns a unique payload.
func paint(number, size int) []byte {
	b := make([]byte, max(size, 8))
	for i := range b {
		b[i] = byte(number*31 + i)
	}
	binary.BigEndian.PutUint64(b, uint64(number))
	return b[:size]
}

// Payloads of all sizes, whole and joined from fragments, do not change while the
// application borrows them, in whatever order it gives them back. Afterwards their
// memory is free.
func TestWhatIsLentStaysAsItIs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	sizes := []int{0, 1, 100, 900, 3000, 20_000, chunkSize - 1, chunkSize, chunkSize + 1, 200_000}
	g := newTrio(3, Config{})
	all := g.borrowers()
	for n := range 1000 {
		_, _ = g.cast(n%3, paint(n, sizes[random.IntN(len(sizes))]), Options{Order: Order(random.IntN(3)), Atomicity: WeakAtomicity}) // a full window may refuse it
		if n%5 == 0 {
			g.turn()
			g.now += 1000
		}
		for i := range all {
			for len(all[i].kept) > random.IntN(60) {
				require.True(t, all[i].giveBack(random.IntN(len(all[i].kept))))
			}
		}
	}
	g.run(100_000_000)
	require.Greater(t, g.count[0], 500)
	for i := range all {
		require.NotZero(t, all[i].s.lent)
		for len(all[i].kept) > 0 {
			require.True(t, all[i].giveBack(0))
		}
		s := g.nodes[i]
		s.Reclaim()
		require.Zero(t, s.lent)
		require.LessOrEqual(t, s.arena.spare, s.arena.most)
		require.Zero(t, s.joined.refs)
		for _, m := range s.members {
			for c := range classes {
				require.Zero(t, m.stream(c).cur.refs)
			}
		}
	}
}

// lendsWithinBounds has an application keep one of many messages, so that little of
// each chunk is lent. It reports whether the kept memory stays within its limit.
func lendsWithinBounds(t testing.TB) bool {
	const backlog = 1 << 18
	g := newTrio(3, Config{Backlog: backlog, Window: 1 << 18, MaxPayload: 1 << 10})
	all := g.borrowers()
	b := &all[1]
	most, taken := 0, 0
	g.take = func(i int, d *Delivery) {
		if i == 1 {
			if taken++; taken%40 == 0 {
				b.take(d)
			}
		}
	}
	for n := range 6000 {
		_, err := g.cast(n%3, paint(n, 800), Options{Order: TotalOrder, Atomicity: WeakAtomicity})
		require.NoError(t, err)
		if n%20 == 0 {
			g.run(1_000_000)
		}
		most = max(most, b.s.lent)
	}
	g.run(10_000_000)
	require.Equal(t, 6000, g.count[1])
	require.Len(t, b.kept, 150)
	for len(b.kept) > 0 {
		require.True(t, b.giveBack(0))
	}
	require.Zero(t, b.s.lent)
	require.LessOrEqual(t, b.s.arena.spare, 2<<18+backlog/2+chunkSize, "free memory stays within its limit")
	return most <= backlog+2*(2*3+1)*chunkSize
}

func TestWhatIsLentIsBounded(t *testing.T) { require.True(t, lendsWithinBounds(t)) }
