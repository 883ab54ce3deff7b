package edict

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// voter models a node. Its clock starts at a random instant after each restart.
type voter struct {
	keeps bool   // this incarnation has a state directory
	count uint64 // number of incarnations in the state directory
	stamp Stamp
}

func (v *voter) restart(t *rapid.T, boots *timed.BootID) {
	v.keeps = rapid.IntRange(0, 3).Draw(t, "keeps") > 0
	v.stamp.Counter = 0
	if v.keeps {
		v.count++
		v.stamp.Counter = v.count
	}
	*boots++
	v.stamp.Boot = *boots
	v.stamp.At = timed.Instant(rapid.IntRange(-1000, 1000).Draw(t, "origin"))
}

// vote returns the next stamp.
func (v *voter) vote(t *rapid.T) Stamp {
	v.stamp.At += timed.Instant(rapid.IntRange(1, 50).Draw(t, "later"))
	return v.stamp
}

// history draws edicts in the order of their creation, from consecutive rounds
// with restarts in between. Most rounds have majorities.
func history(t *rapid.T) []Edict {
	voters := make([]voter, rapid.IntRange(1, 7).Draw(t, "voters"))
	boots := timed.BootID(0)
	for i := range voters {
		voters[i].stamp.Node = timed.NodeID(i + 1)
		voters[i].restart(t, &boots)
	}
	epoch := uint64(1)
	var all []Edict
	for range rapid.IntRange(1, 8).Draw(t, "rounds") {
		for i := range voters {
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				voters[i].restart(t, &boots)
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "epoch") == 0 {
			epoch++
			voters[0].count = 0 // a node may lose its state between epochs
			voters[0].restart(t, &boots)
		}
		need := len(voters)/2 + 1
		if rapid.IntRange(0, 5).Draw(t, "local") == 0 {
			need = 1
		}
		var stamps []Stamp
		first := rapid.IntRange(0, len(voters)-1).Draw(t, "first")
		has := timed.Set{}
		for k := range need {
			has.Add(timed.NodeID((first+k)%len(voters) + 1))
		}
		for id := range has.All() {
			stamps = append(stamps, voters[id-1].vote(t))
		}
		for k := range rapid.IntRange(1, 3).Draw(t, "edicts") {
			all = append(all, Edict{Epoch: epoch, Stamps: stamps, Counter: uint64(k), Digest: Sum([]byte{byte(k)})})
		}
	}
	return all
}

// known reports whether the epochs or a common voter order two edicts.
func known(a, b *Edict) bool {
	if a.Epoch != b.Epoch {
		return true
	}
	for _, s := range a.Stamps {
		if o, ok := b.Stamp(s.Node); ok && (s.Boot == o.Boot || s.Counter > 0 && o.Counter > 0) {
			return true
		}
	}
	return false
}

func reverse(o Order) Order { return [...]Order{Incomparable, After, Before, Same}[o] }

// asCreated requires that Relate orders edicts exactly if a common voter or the
// epochs do, and in the order of their creation.
func asCreated(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		all := history(t)
		for i := range all {
			for j := range all {
				r := Relate(&all[i], &all[j])
				require.Equal(t, reverse(r.Order), Compare(all[j], all[i]))
				require.Equal(t, r.Order == Incomparable, r.Reason != NoReason)
				switch {
				case i == j:
					require.Equal(t, Same, r.Order)
				case !known(&all[i], &all[j]):
					require.Equal(t, Incomparable, r.Order)
					require.NotEqual(t, Contradiction, r.Reason)
				default:
					require.Equal(t, orderOf(i, j), r.Order, "%+v\n%+v", all[i], all[j])
				}
			}
		}
	})
}

func TestRelateFollowsCreation(t *testing.T) { asCreated(t) }

func round(stamps ...Stamp) Edict { return Edict{Epoch: 1, Stamps: stamps} }

func contradictions(t testing.TB) {
	a1, a2 := Stamp{1, 1, 10, 100}, Stamp{1, 1, 10, 200}
	b1, b2 := Stamp{2, 1, 20, 100}, Stamp{2, 1, 20, 200}
	payload := round(a1)
	payload.Digest = Sum([]byte("other"))
	for name, c := range map[string]struct {
		a, b Edict
		want Relation
	}{
		"two voters":             {round(a1, b2), round(a2, b1), Relation{Reason: Contradiction, Voter: 1, Other: 2}},
		"one vote in two rounds": {round(a1, b1), round(a1, b2), Relation{Reason: Contradiction, Voter: 1, Other: 2}},
		"one round of two sizes": {round(a1), round(a1, b1), Relation{Reason: Contradiction, Voter: 1}},
		"other votes, same size": {round(a1, b1), round(a1, Stamp{3, 1, 30, 1}), Relation{Reason: Contradiction, Voter: 1, Other: 2}},
		"two counts of one boot": {round(a1), round(Stamp{1, 2, 10, 300}), Relation{Reason: Contradiction, Voter: 1}},
		"two payloads":           {round(a1), payload, Relation{Reason: Contradiction}},
		"no common voter":        {round(a1), round(b1), Relation{Reason: NoCommonVoter}},
		"a copied directory":     {round(a1), round(Stamp{1, 1, 11, 300}), Relation{Reason: UnorderedVotes}},
		"no directory":           {round(Stamp{1, 0, 10, 1}), round(Stamp{1, 0, 11, 2}), Relation{Reason: UnorderedVotes}},
	} {
		require.Equal(t, c.want, Relate(&c.a, &c.b), name)
		require.Equal(t, Incomparable, Compare(c.b, c.a), name)
		require.Contains(t, c.want.String(), "incomparable: "+c.want.Reason.String())
	}
	later := round(a2, b1)
	later.Epoch = 2
	require.Equal(t, Before, Compare(round(a1, b2), later), "epochs are compared first")
}

func TestRelateDetectsContradictions(t *testing.T) { contradictions(t) }
