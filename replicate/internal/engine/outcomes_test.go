package engine

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

func messageID(sequence uint64) broadcast.ID {
	return broadcast.ID{Sender: 1, Boot: 2, Class: broadcast.ClassOrdered, Sequence: sequence}
}

// Verdicts that come before a caller knows its message's id are kept for it, and for
// no longer, even if some caller is sending at all times.
func TestVerdictsAreKeptForCallersThatSend(t *testing.T) {
	var o Outcomes
	told := func(sequence uint64) {
		o.resolve(&broadcast.Delivery{ID: messageID(sequence)}, Verdict{Result: sequence})
	}
	call := o.Sending()
	for i := uint64(1); i < 1000; i++ {
		next := o.Sending()
		told(i)
		c := o.Sent(call, messageID(i), nil, nil)
		v := <-c.Verdict
		require.Equal(t, i, v.Result)
		require.LessOrEqual(t, len(o.early), 1, "nobody is left for whom the others were kept")
		call = next
	}
	o.restart(3)
	v := <-o.Sent(call, messageID(1000), nil, nil).Verdict
	require.Equal(t, failaware.IncarnationEnded, v.Unknown)
	require.Empty(t, o.early)

	told(1001)
	require.Empty(t, o.early, "nobody sends")
	call = o.Sending()
	o.restart(2)
	c := o.Sent(call, messageID(1002), nil, nil)
	require.Empty(t, c.Verdict, "it is of the new incarnation")
	o.lose(messageID(1003), 1002)
	require.Equal(t, failaware.OrderedElsewhere, (<-c.Verdict).Unknown)
	require.False(t, o.Forget(messageID(1002)))
}

// forgetsWhole has a caller forget its message while its function runs. The function has ended
// when Forget returns: the caller may use again what it writes to.
func forgetsWhole(t testing.TB) {
	for range 100 {
		var o Outcomes
		var began, running atomic.Bool
		o.Sent(o.Sending(), messageID(1), nil, func(Verdict) {
			running.Store(true)
			began.Store(true)
			for range 100 {
				runtime.Gosched()
			}
			running.Store(false)
		})
		var engine sync.WaitGroup
		engine.Go(func() { o.reach(&broadcast.Delivery{ID: messageID(1)}, Verdict{}) })
		for !began.Load() {
			runtime.Gosched()
		}
		require.True(t, o.Forget(messageID(1)))
		over := !running.Load()
		engine.Wait()
		require.True(t, over, "a function runs on for a caller that has gone")
	}
}

func TestWhatIsForgottenDoesNotRun(t *testing.T) { forgetsWhole(t) }

// A verdict given before a call began is not about its message.
func TestOldVerdictsAreNotGiven(t *testing.T) {
	var o Outcomes
	other := o.Sending()
	o.restart(3)
	call := o.Sending()
	id := messageID(1)
	id.Boot = 4 // another one has begun meanwhile
	c := o.Sent(call, id, nil, nil)
	require.Empty(t, c.Verdict)
	o.Sent(other, broadcast.ID{}, failaware.ErrClosed, nil)
	require.Empty(t, o.early)
	last := o.Sending()
	o.End()
	require.Equal(t, failaware.NodeStopped, (<-c.Verdict).Unknown)
	require.Len(t, o.Sent(last, messageID(9), nil, nil).Verdict, 1, "nobody would tell a caller that comes late")
}

// Whatever calls overlap, each gets the verdict on its message, whether that comes before
// its id is known or after.
func everyCallerHears(t testing.TB) {
	type caller struct {
		call, sequence uint64
		told           bool
		wait           *Wait
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 4))
		var o Outcomes
		var sending, waiting []*caller
		tell := func(c *caller) {
			c.told = true
			o.resolve(&broadcast.Delivery{ID: messageID(c.sequence)}, Verdict{Result: c.sequence})
		}
		last := uint64(0)
		for range 300 {
			switch i := r.IntN(4); {
			case i == 0 && len(sending) < 5:
				last++
				sending = append(sending, &caller{call: o.Sending(), sequence: last})
			case i == 1 && len(sending) > 0:
				if c := sending[r.IntN(len(sending))]; !c.told {
					tell(c)
				}
			case i == 2 && len(sending) > 0:
				at := r.IntN(len(sending))
				c := sending[at]
				sending = append(sending[:at], sending[at+1:]...)
				if c.wait = o.Sent(c.call, messageID(c.sequence), nil, nil); !c.told {
					require.Empty(t, c.wait.Verdict)
				}
				waiting = append(waiting, c)
			case i == 3 && len(waiting) > 0:
				c := waiting[0]
				waiting = waiting[1:]
				if !c.told {
					tell(c)
				}
				require.Len(t, c.wait.Verdict, 1, "seed %d: message %d", seed, c.sequence)
				require.Equal(t, c.sequence, (<-c.wait.Verdict).Result)
			}
		}
	}
}

func TestEveryCallerHears(t *testing.T) { everyCallerHears(t) }

// rangesAreLost loses a range of the messages of one incarnation and class. Those who wait for
// them hear of it, and those who are just sending one, and nobody else.
func rangesAreLost(t testing.TB) {
	lost := messageID(4)
	from := uint64(2)
	for _, early := range []bool{true, false} {
		var o Outcomes
		var calls []uint64
		var ids []broadcast.ID
		for _, boot := range []timed.BootID{lost.Boot - 1, lost.Boot, lost.Boot + 1} {
			for _, class := range []broadcast.Class{broadcast.ClassOrdered, broadcast.ClassUnordered} {
				for sequence := range uint64(6) {
					ids = append(ids, broadcast.ID{Sender: lost.Sender, Boot: boot, Class: class, Sequence: sequence})
					calls = append(calls, o.Sending())
				}
			}
		}
		if early {
			o.lose(lost, from)
		}
		waits := map[broadcast.ID]*Wait{}
		for i, id := range ids {
			waits[id] = o.Sent(calls[i], id, nil, nil)
		}
		if !early {
			o.lose(lost, from)
		}
		for id, w := range waits {
			told := 0
			if id.Boot == lost.Boot && id.Class == lost.Class && from <= id.Sequence && id.Sequence <= lost.Sequence {
				told = 1
			}
			require.Len(t, w.Verdict, told, "%v", id)
			require.Equal(t, told == 0, o.Forget(id), "%v", id)
		}
	}
}

func TestOnlyWhatIsLostIsLost(t *testing.T) { rangesAreLost(t) }
