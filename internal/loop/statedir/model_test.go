package statedir

import (
	"math/rand/v2"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Whatever a node writes, in whatever order, over restarts, is there afterwards and no
// more. A closed directory changes nothing: the files may be another process's.
func TestStateIsThatOfItsModel(t *testing.T) { stateIsThatOfItsModel(t) }

func stateIsThatOfItsModel(t testing.TB) {
	for seed := range uint64(20) {
		playModel(t, rand.New(rand.NewPCG(seed, 1)))
	}
}

func playModel(t testing.TB, r *rand.Rand) {
	dir := t.TempDir()
	model := record{Group: "a group"}
	var members []Member
	var open, closed *Dir
	var earlier time.Duration
	var former uint64
	for range 40 {
		if open == nil {
			maxLock := time.Duration(1 + r.IntN(9))
			earlier, former = max(model.MaxLock, maxLock), model.Views
			model.Incarnations, model.MaxLock = model.Incarnations+1, earlier
			var err error
			open, err = begin(dir, 1, maxLock)
			require.NoError(t, err)
		}
		switch d := open; r.IntN(7) {
		default:
			changeRecord(t, r, d, &model)
		case 0:
			require.NoError(t, d.Close())
			open, closed = nil, d
		case 1:
			if closed != nil {
				useClosed(t, closed, model.Views+1)
				closed = nil
			}
		case 2:
			members = []Member{{ID: timed.NodeID(2 + r.IntN(9)), Addr: netip.MustParseAddrPort("192.0.2.1:7000")}}
			require.NoError(t, d.KeepMembers(members))
		}
		if open == nil {
			continue
		}
		require.Equal(t, earlier, open.Earlier(), "votes of an earlier process last as long as they did when it ended")
		require.Equal(t, former, open.FormerViews())
		sameAsModel(t, open, model)
		kept, err := open.ReadMembers()
		require.NoError(t, err)
		require.Equal(t, members, kept)
	}
	if open != nil {
		require.NoError(t, open.Close())
	}
}

// changeRecord makes one of the changes of which the state files tell.
func changeRecord(t testing.TB, r *rand.Rand, d *Dir, model *record) {
	switch r.IntN(4) {
	case 0:
		require.NoError(t, d.Count())
		model.Incarnations++
	case 1:
		lock := time.Duration(1 + r.IntN(9))
		require.NoError(t, d.Lower(lock))
		model.MaxLock = min(model.MaxLock, lock)
	case 2:
		sequence := model.Views + uint64(r.IntN(3))
		if r.IntN(9) == 0 {
			sequence = membership.MaxSequence
		}
		require.NoError(t, d.ReserveViews(sequence))
		if sequence > model.Views {
			model.Views = min(sequence+reserved, membership.MaxSequence)
		}
	case 3:
		model.HasEpoch, model.Least = true, further(r, model.Least)
		require.NoError(t, d.WriteEpoch(stateOf(model.Least)))
	}
}

// useClosed calls methods of a closed directory, which must write nothing.
func useClosed(t testing.TB, d *Dir, sequence uint64) {
	require.Error(t, d.Count())
	_ = d.ReserveViews(sequence) // an error, unless it is reserved
	require.Error(t, d.WriteEpoch(&epoch.State{Epoch: 2, System: "majority:1"}))
	require.NoError(t, d.Lower(0))
	require.NoError(t, d.KeepMembers([]Member{{ID: 9}}))
}

// further returns where the epoch is when it is written next.
func further(r *rand.Rand, p progress) progress {
	switch {
	case p.Epoch == 0 || r.IntN(3) == 0:
		return progress{p.Epoch + 1, epoch.Idle}
	case r.IntN(2) == 0:
		return progress{p.Epoch, epoch.Wedged}
	}
	return p
}

// stateOf returns a state of a node that is so far.
func stateOf(p progress) *epoch.State {
	s := &epoch.State{Epoch: p.Epoch, System: "majority:1,2,3", Phase: p.Phase}
	if p.Phase == epoch.Wedged {
		s.Next, s.Agreed = "majority:1", true
	}
	return s
}

func sameAsModel(t testing.TB, d *Dir, model record) {
	read, known, err := d.read()
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, model, read)
	require.Equal(t, model.Incarnations, d.Incarnation())
	require.Equal(t, model.Views, d.views.Load())
	if s, err := readEpoch(d, Configured{}); model.HasEpoch {
		require.NoError(t, err)
		require.Equal(t, model.Least, progressOf(s))
	}
	if _, has, err := d.epochFile(); model.HasEpoch {
		require.NoError(t, err)
		require.Equal(t, model.counters(), has, "an older state file would be noticed")
	}
	_, err = os.Lstat(d.epochPath())
	require.Equal(t, model.HasEpoch, err == nil)
}
