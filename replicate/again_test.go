package replicate

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// With Storage a reader sees the state before it lasts. A later barrier that lasts says nothing
// of what the reader saw if the state was replaced in between.
func TestABarrierThatLastsIsOfTheStateThatWasSeen(t *testing.T) { barrierAcrossRestore(t) }

func barrierAcrossRestore(t testing.TB) {
	for _, c := range []struct {
		restores uint64 // before the second barrier
		kept     bool
	}{{3, true}, {4, false}} {
		calls, tries := 0, 0
		_, err := tryBarriers(true, true, func() { calls++ },
			func(again bool, place func(engine.Verdict)) (engine.Verdict, error) {
				require.Equal(t, tries > 0, again)
				v := engine.Verdict{Restores: 3}
				if tries++; tries == 2 {
					v = engine.Verdict{Lasting: true, Restores: c.restores}
				}
				place(v)
				return v, nil
			})
		require.Equal(t, c.kept, err == nil, "%v", err)
		require.True(t, c.kept || errors.Is(err, ErrStateReplaced))
		require.Equal(t, 1, calls, "f is called at most once")
		require.Equal(t, 2, tries)
	}
	told := &NotAcceptingError{Situation: Working, Err: ErrStateReplaced}
	require.EqualError(t, told, ErrStateReplaced.Error(), "no time has ended")
	require.ErrorIs(t, told, ErrNotAccepting)
	require.ErrorIs(t, told, ErrStateReplaced)
}

// A transitional barrier stands where the view is over: members that have left it may have
// acknowledged what this node lacks. So a reader sees nothing there, whatever else holds. A
// regular barrier shows the state, with Storage before it lasts.
func TestATransitionalBarrierShowsNothing(t *testing.T) { barriersShow(t) }

func barriersShow(t testing.TB) {
	const lasts, stored, transitional, lasting = 1, 2, 4, 8
	for first, shown := range map[int]string{
		0:                                       "ends",
		transitional:                            "nothing",
		lasts:                                   "nothing",
		lasts | stored:                          "state",
		lasts | transitional:                    "nothing",
		lasts | stored | transitional:           "nothing",
		lasts | lasting:                         "ends",
		lasts | stored | lasting:                "ends",
		lasts | transitional | lasting:          "nothing",
		lasts | stored | transitional | lasting: "nothing",
	} {
		has := func(what int) bool { return first&what > 0 }
		calls, after := 0, []int{}
		_, err := tryBarriers(has(lasts), has(stored), func() { calls++ },
			func(again bool, place func(engine.Verdict)) (engine.Verdict, error) {
				v := engine.Verdict{Lasting: again || has(lasting)}
				v.Message.Transitional = !again && has(transitional)
				place(v)
				after = append(after, calls)
				return v, nil
			})
		require.NoError(t, err)
		require.Equal(t, map[string][]int{"nothing": {0, 1}, "state": {1, 1}, "ends": {1}}[shown], after, "%04b", first)
	}
}

// readsAtItsPlace has the verdict on a barrier come without a call at its place. That shows nothing:
// the barrier is tried again.
func readsAtItsPlace(t testing.TB) {
	calls, tries := 0, 0
	_, err := tryBarriers(false, false, func() { calls++ },
		func(again bool, place func(engine.Verdict)) (v engine.Verdict, _ error) {
			if tries++; again {
				place(v)
			}
			return v, nil
		})
	require.NoError(t, err)
	require.Equal(t, 1, calls)
	require.Equal(t, 2, tries)
}

func TestAReaderReadsAtThePlaceOfItsBarrier(t *testing.T) { readsAtItsPlace(t) }

// What Bootstrap says counts in one view. If that view ends before it was heard, Bootstrap
// says it again in the next, and once in each.
func TestBootstrapIsSaidInEachViewThatWaits(t *testing.T) { bootstrapsAgain(t) }

func bootstrapsAgain(t testing.TB) {
	view := func(n uint64) failaware.ViewID { return failaware.ViewID{Sequence: n, Leader: 1, Boot: 7} }
	steps := []engine.Status{{Situation: Recovering, View: view(5)}, {Situation: Recovering, View: view(5)}, {},
		{Situation: Reporting, View: view(6)}, {Situation: Recovering, View: view(6)}, {Situation: Working, View: view(6)}}
	ready := make(chan struct{})
	close(ready)
	var said []failaware.ViewID
	err := bootstrap(t.Context(), nil, func() (engine.Status, <-chan struct{}) {
		s := steps[0]
		steps = steps[1:]
		return s, ready
	}, func(id failaware.ViewID) error {
		said = append(said, id)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []failaware.ViewID{view(5), view(6)}, said)
}
