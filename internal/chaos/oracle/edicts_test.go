package oracle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// decided is an edict of epoch 1 that rests on votes of incarnation 1, given as pairs of a
// voter and its clock.
func decided(t int64, text string, number uint64, votes ...int64) Record {
	r := at(t, Record{Kind: Edict, Text: text, Epoch: 1, Number: number})
	for i := 0; i < len(votes); i += 2 {
		r.Stamps = append(r.Stamps, Stamp{Node: int(votes[i]), Incarnation: 1, Boot: 7, At: votes[i+1]})
	}
	return r
}

func TestEdictsOutOfOrderAreSeen(t *testing.T) {
	const rule = "edicts and timestamps show their order"
	first := decided(0, "a", 5, 1, 100, 2, 100)
	require.Empty(t, rules(forged([]Record{first, decided(5, "b", 6, 1, 100, 2, 100)}, []Record{decided(9, "c", 1, 2, 101, 3, 50)})))
	for why, second := range map[string]Record{
		"the counter":       decided(9, "b", 5, 1, 100, 2, 100),
		"the votes":         decided(9, "b", 1, 1, 99, 3, 200),
		"no common voter":   decided(9, "b", 1, 3, 200, 4, 200),
		"a contradiction":   decided(9, "b", 1, 1, 101, 2, 99),
		"a repeated vote":   decided(9, "b", 1, 1, 100, 3, 100),
		"a vote is missing": decided(9, "b", 6, 1, 100),
	} {
		require.Equal(t, []string{rule}, rules(forged([]Record{first}, []Record{second})), why)
		overlapping := second
		overlapping.From = first.From
		require.Empty(t, rules(forged([]Record{first}, []Record{overlapping})), "%s, at the same time", why)
	}
	restarted, rebooted, renewed := decided(9, "b", 1, 1, 3, 3, 3), decided(9, "b", 1, 1, 200, 3, 3), decided(9, "b", 1, 4, 3)
	restarted.Stamps[0].Incarnation = 2
	rebooted.Stamps[0].Boot = 8
	renewed.Epoch = 2
	require.Empty(t, rules(forged([]Record{first}, []Record{restarted})))
	require.Empty(t, rules(forged([]Record{first}, []Record{renewed})))
	require.Equal(t, []string{rule}, rules(forged([]Record{first}, []Record{rebooted})))
	renewed.From, renewed.To = -20*ms, -10*ms
	require.Equal(t, []string{rule}, rules(forged([]Record{first}, []Record{renewed})), "a later epoch came first")
}

func TestWrongFencesAreSeen(t *testing.T) {
	made := []Record{decided(0, "a", 1, 1, 100), decided(9, "b", 2, 1, 100), decided(20, "c", 3, 1, 100)}
	asked := func(t int64, text, outcome string) Record {
		return at(t, Record{Kind: Obeyed, Text: text, Outcome: outcome})
	}
	judge := func(records ...Record) []string { return rules(forged(append(made[:3:3], records...))) }
	require.Empty(t, judge(asked(10, "b", Done), asked(11, "a", Refused), asked(12, "b", Done), asked(21, "c", Done)))
	require.Equal(t, []string{"a fence obeys no edict after a later one"}, judge(asked(10, "b", Done), asked(11, "a", Done)))
	require.Equal(t, []string{"a fence obeys the latest edict"}, judge(asked(10, "b", Done), asked(21, "c", Refused)))
	require.Equal(t, []string{"a fence is asked with edicts that were made"}, judge(asked(10, "x", Refused)))
}
