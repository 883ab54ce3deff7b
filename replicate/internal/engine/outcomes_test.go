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

// waitFor begins a wait for a message.
func waitFor(o *Outcomes, id broadcast.ID, at func(Verdict)) *Wait {
	w := o.Wait(at)
	w.Queued(id)
	return w
}

// forgetsWhole has a caller forget its message while its function runs. The function has ended
// when Forget returns: the caller may use again what it writes to.
func forgetsWhole(t testing.TB) {
	for range 100 {
		var o Outcomes
		var began, running atomic.Bool
		waitFor(&o, messageID(1), func(Verdict) {
			running.Store(true)
			began.Store(true)
			for range 100 {
				runtime.Gosched()
			}
			running.Store(false)
		})
		var engine sync.WaitGroup
		engine.Go(func() { o.reach(&Verdict{Message: broadcast.Delivery{ID: messageID(1)}}) })
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

// A new incarnation ends the waits of earlier ones only, and the end of the node all, even those
// that begin later: nobody would tell them.
func TestOldVerdictsAreNotGiven(t *testing.T) {
	var o Outcomes
	former := waitFor(&o, messageID(1), nil)
	id := messageID(1)
	id.Boot = 4
	c := waitFor(&o, id, nil)
	o.restart(4)
	require.Len(t, former.Given, 1)
	require.Equal(t, failaware.IncarnationEnded, former.Verdict.Unknown)
	require.Empty(t, c.Given)
	o.End()
	require.Len(t, c.Given, 1)
	require.Equal(t, failaware.NodeStopped, c.Verdict.Unknown)
	require.Len(t, waitFor(&o, messageID(9), nil).Given, 1)
}

// everyCallerHears has many callers wait. Each gets the verdict on its message, once, also when
// waits are used again, and what a verdict says is not there for the next caller.
func everyCallerHears(t testing.TB) {
	r := rand.New(rand.NewPCG(1, 4))
	var o Outcomes
	waits := map[uint64]*Wait{}
	for n := range uint64(3000) {
		waits[n] = waitFor(&o, messageID(n), nil)
		require.Zero(t, waits[n].Verdict)
		for sequence, w := range waits {
			if r.IntN(4) > 0 {
				continue
			}
			o.resolve(&Verdict{Message: broadcast.Delivery{ID: messageID(sequence)}, Result: sequence})
			require.Len(t, w.Given, 1)
			<-w.Given
			require.Equal(t, sequence, w.Verdict.Result)
			require.False(t, o.Forget(messageID(sequence)))
			o.Over(w)
			delete(waits, sequence)
		}
	}
	for _, w := range waits {
		require.Empty(t, w.Given)
	}
	require.Len(t, o.waits, len(waits))
}

func TestEveryCallerHears(t *testing.T) { everyCallerHears(t) }

// rangesAreLost loses a range of the messages of one incarnation and class. Those who wait for
// them hear of it, and nobody else.
func rangesAreLost(t testing.TB) {
	lost := messageID(4)
	from := uint64(2)
	var o Outcomes
	waits := map[broadcast.ID]*Wait{}
	for _, boot := range []timed.BootID{lost.Boot - 1, lost.Boot, lost.Boot + 1} {
		for _, class := range []broadcast.Class{broadcast.ClassOrdered, broadcast.ClassUnordered} {
			for sequence := range uint64(6) {
				id := broadcast.ID{Sender: lost.Sender, Boot: boot, Class: class, Sequence: sequence}
				waits[id] = waitFor(&o, id, nil)
			}
		}
	}
	o.lose(lost, from)
	for id, w := range waits {
		told := 0
		if id.Boot == lost.Boot && id.Class == lost.Class && from <= id.Sequence && id.Sequence <= lost.Sequence {
			told = 1
		}
		require.Len(t, w.Given, told, "%v", id)
		require.Equal(t, told == 0, o.Forget(id), "%v", id)
	}
}

func TestOnlyWhatIsLostIsLost(t *testing.T) { rangesAreLost(t) }
