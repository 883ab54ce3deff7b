package sendqueue

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
)

// crowd is callers of one class that always have another message. They act one at a time,
// in any order.
type crowd struct {
	t     testing.TB
	r     *rand.Rand
	q     *Queue
	loop  *receiver
	ready []*caller
	waits [lanes][]*caller // in the order in which they are woken
	sent  [lanes]int       // bytes
}

type caller struct {
	lane    Lane
	largest int
	at      place
	since   int // batches for which it has waited
}

var crowdOptions = broadcast.Options{Order: broadcast.Unordered, Atomicity: broadcast.WeakAtomicity}

const crowdClass = broadcast.ClassUnordered

// newCrowd returns so many callers of each lane, with messages of up to some bytes.
func newCrowd(t testing.TB, seed uint64, count, largest [lanes]int) *crowd {
	c := &crowd{t: t, r: rand.New(rand.NewPCG(seed, 0)), loop: newReceiver()}
	c.q = New(Options{Self: 1, PacketBytes: packetBytes, Wake: func() {}})
	c.q.Restart(1)
	for l := range count {
		for range count[l] {
			c.ready = append(c.ready, &caller{lane: Lane(l), largest: largest[l]})
		}
	}
	return c
}

// act has one of those act that do not wait.
func (c *crowd) act() {
	i := c.r.IntN(len(c.ready))
	x := c.ready[i]
	size := c.r.IntN(x.largest + 1)
	if c.r.IntN(2) == 0 {
		size = x.largest
	}
	_, _, err := c.q.put(x.lane, make([]byte, size), crowdOptions, nil, true, &x.at)
	if err == nil {
		c.sent[x.lane] += size + MessageOverhead
		x.at, x.since = arriving, 0
	} else {
		require.ErrorIs(c.t, err, broadcast.ErrWindowFull)
		c.ready = append(c.ready[:i:i], c.ready[i+1:]...)
		c.waits[x.lane] = append(c.waits[x.lane], x)
	}
	c.wake()
}

// wake lets those act that the queue wakes.
func (c *crowd) wake() {
	for l := range c.waits {
		select {
		case <-c.q.classes[crowdClass].room[l]:
			if w := c.waits[l]; len(w) > 0 {
				c.ready, c.waits[l] = append(c.ready, w[0]), w[1:]
			}
		default:
		}
	}
}

// take has the loop take all that waits.
func (c *crowd) take() {
	for c.loop.room = 1 << 30; c.q.Refill(crowdClass, c.loop); {
		_, err := c.q.HandOver(crowdClass, 0, c.loop)
		require.NoError(c.t, err)
		c.loop.got = c.loop.got[:0]
		if k := &c.q.classes[crowdClass]; k.next == len(k.out.messages) {
			break // callers act before the next batch
		}
	}
	for _, w := range c.waits {
		for _, x := range w {
			x.since++
		}
	}
	c.wake()
}

// sharesByWeights has the callers of both lanes wait for room at the end of every batch.
// Each lane must get its part, however many its callers and however large its messages.
func sharesByWeights(t testing.TB) {
	const batches = 60
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		count := [lanes]int{1 + r.IntN(20), 1 + r.IntN(3)}
		largest := [lanes]int{1 << (10 + r.IntN(9)), 1 << (10 + r.IntN(9))}
		c := newCrowd(t, seed, count, largest)
		for range batches {
			for len(c.ready) > 0 {
				c.act()
			}
			c.take()
		}
		total := c.sent[Application] + c.sent[State]
		for l := range c.sent {
			part := float64(total) * float64(laneBytes[l]) / classBytes
			require.InDelta(t, part, c.sent[l], 2*classBytes+float64(largest[0]+largest[1]), "seed %d, lane %d, %v callers of up to %v", seed, l, count, largest)
		}
	}
}

func TestLanesShareAClassByTheirWeights(t *testing.T) { sharesByWeights(t) }

// everyLaneMoves has callers act and the loop take batches at random instants. Each caller must
// get room in a bounded number of batches, although the other lane's messages are large.
func everyLaneMoves(t testing.TB) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		count := [lanes]int{1 + r.IntN(5), 1 + r.IntN(3)}
		largest := [lanes]int{1 << (8 + r.IntN(11)), 1 << (8 + r.IntN(11))}
		// The largest message of a lane takes so many batches of the other one, and a
		// caller is overtaken once.
		most := 2
		for l := range largest {
			most = max(most, 2*(count[l]+1)*(2+(largest[l]+MessageOverhead)/laneBytes[l]))
		}
		c := newCrowd(t, seed, count, largest)
		for range 1000 {
			if len(c.ready) > 0 && r.IntN(6) > 0 {
				c.act()
			} else {
				require.True(t, len(c.ready) > 0 || c.q.classes[crowdClass].in.weight > 0, "seed %d: all wait, and nothing is queued", seed)
				c.take()
			}
			for _, w := range c.waits {
				for _, x := range w {
					require.LessOrEqual(t, x.since, most, "seed %d: %+v waits", seed, x)
				}
			}
		}
	}
}

func TestEveryLaneMoves(t *testing.T) { everyLaneMoves(t) }

// A lane takes what the other leaves, and the other has its part at once when it comes.
func borrowsWhatIsLeft(t testing.TB) {
	for l := range Lane(lanes) {
		c := newCrowd(t, 1, [lanes]int{}, [lanes]int{})
		put := func(l Lane) error {
			var at place
			_, _, err := c.q.put(l, make([]byte, 1000), crowdOptions, nil, false, &at)
			return err
		}
		fill := func(l Lane) (n int) {
			for put(l) == nil {
				n += 1000 + MessageOverhead
			}
			return n
		}
		require.InDelta(t, classBytes, fill(l), 2000)
		require.InDelta(t, laneBytes[1-l], fill(1-l), 2000)
		c.take()
		require.Zero(t, c.q.classes[crowdClass].bytes, "nobody waited, so nothing is owed")
		require.InDelta(t, classBytes, fill(l), 2000)
		c.q.Restart(2)
		require.Zero(t, c.q.classes[crowdClass].bytes, "nor is anything of an earlier incarnation")
	}
}

func TestALaneTakesWhatTheOtherLeaves(t *testing.T) { borrowsWhatIsLeft(t) }
