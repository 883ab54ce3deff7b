package oracle

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// sent and given are a message of node 1 and its delivery.
func sent(n uint64) Record {
	return at(int64(n), Record{Kind: Send, Text: fmt.Sprintf("1.1.%d", n)})
}

func given(n uint64, change ...func(*Record)) Record {
	r := at(int64(n)+1, Record{Kind: Deliver, View: "v", Text: fmt.Sprintf("1.1.%d", n), Order: Total, Position: n,
		ID: &Message{Sender: 1, Boot: 7, Class: 1, Sequence: n}})
	for _, f := range change {
		f(&r)
	}
	return r
}

func changeTo(view string) Record { return at(0, Record{Kind: Change, View: view}) }

func TestWrongDeliveriesAreSeen(t *testing.T) {
	begin := func(records ...Record) []Record { return append([]Record{sent(1), sent(2), changeTo("v")}, records...) }
	require.Empty(t, rules(forged(begin(given(1), given(2)), []Record{changeTo("v"), given(1), given(2)})))
	for rule, records := range map[string][]Record{
		"a delivery was broadcast":                begin(given(3)),
		"once, and in the sender's order":         begin(given(1), given(1, func(r *Record) { r.Position = 2 })),
		"a message has one outcome":               begin(given(1), at(9, Record{Kind: Lost, ID: given(1).ID, Number: 2})),
		"deliveries are in the order of the view": begin(given(1, func(r *Record) { r.Position = 3 }), given(2)),
		"a message has one id":                    begin(given(1), given(2, func(r *Record) { r.Text = "1.1.1" })),
	} {
		require.Equal(t, []string{rule}, rules(forged(records)))
	}
	require.Contains(t, rules(forged(begin(given(1), given(2)), []Record{changeTo("v"), given(1, func(r *Record) { r.Position = 2 })})), "one order in a view")
}

func TestDifferencesOfThoseWhoMoveTogetherAreSeen(t *testing.T) {
	both := func(first, second []Record) []string {
		head := []Record{sent(1), sent(2), changeTo("v")}
		return rules(forged(append(append(head, first...), changeTo("w")), append(append([]Record{changeTo("v")}, second...), changeTo("w"))))
	}
	weak := func(r *Record) { r.Weakened = true }
	free := func(r *Record) { r.Order, r.Position = "", 0 }
	const rule = "members that move together are given the same"
	require.Empty(t, both([]Record{given(1), given(2)}, []Record{given(1), given(2)}))
	require.Empty(t, both([]Record{given(1, free), given(2, free)}, []Record{given(1, free), given(2, free)}))
	require.Equal(t, []string{rule}, both([]Record{given(1), given(2)}, []Record{given(1)}))
	require.Equal(t, []string{rule}, both([]Record{given(1)}, []Record{given(1, weak)}))
	require.Equal(t, []string{rule}, both([]Record{given(1, free)}, nil))
	require.Empty(t, rules(forged([]Record{sent(1), changeTo("v"), given(1), changeTo("w")}, []Record{changeTo("v"), changeTo("x")})), "they part")
}

func TestTimedMessagesOutOfOrderAreSeen(t *testing.T) {
	stamp := func(t int64) func(*Record) {
		return func(r *Record) { r.Order, r.Time = Timed, t }
	}
	judge := func(first, second int64, other ...Record) []string {
		return rules(forged([]Record{sent(1), sent(2), changeTo("v"), given(1, stamp(first)), given(2, stamp(second))}, append([]Record{changeTo("v")}, other...)))
	}
	require.Empty(t, judge(5, 6))
	require.Empty(t, judge(5, 5), "of one sender")
	require.Equal(t, []string{"timed messages are in the order of their stamps"}, judge(6, 5))
	require.Empty(t, judge(5, 6, given(1, stamp(5))))
	require.Equal(t, []string{"a message has one stamp in a view"}, judge(5, 6, given(1, stamp(4))))
}

func TestAStrictMessageThatAMemberLacksIsSeen(t *testing.T) {
	strict := func(r *Record) { r.Strict = true }
	parted := func(second ...Record) []string {
		return rules(forged([]Record{sent(1), changeTo("v"), given(1, strict), changeTo("w")}, append(append([]Record{changeTo("v")}, second...), changeTo("x"))))
	}
	require.Empty(t, parted(given(1, strict)))
	require.Empty(t, parted(given(1, strict, func(r *Record) { r.Weakened = true })))
	require.Equal(t, []string{"no member leaves a view without a strict message of it"}, parted())
	require.Empty(t, rules(forged([]Record{sent(1), changeTo("v"), given(1, strict), changeTo("w")}, []Record{changeTo("v")})), "it has ended")
}

// client makes the records of operations one after the other.
type client struct{ records []Record }

func (c *client) do(from, to int64, write, result uint64, outcome string) {
	n := uint64(len(c.records) + 1)
	c.records = append(c.records, Record{Kind: Call, Number: n, Key: "k", Write: write, From: from * ms, To: from * ms})
	if outcome != "" {
		c.records = append(c.records, Record{Kind: Return, Number: n, Result: result, Outcome: outcome, From: to * ms, To: to * ms})
	}
}

// lease makes the last operation a read by lease.
func (c *client) lease() {
	c.records = slices.Clone(c.records)
	c.records[len(c.records)-2].Leased = true
}

func TestHistoriesOfRegistersAreJudged(t *testing.T) {
	judge := func(a, b client) []string { return rules(forged(a.records, b.records)) }
	var a, b client
	a.do(0, 10, 1, 0, Done)
	b.do(20, 30, 0, 1, Done)
	b.do(40, 50, 2, 1, Done)
	a.do(60, 70, 0, 2, Done)
	require.Empty(t, judge(a, b))
	stale := a
	stale.do(80, 90, 0, 1, Done)
	require.Equal(t, []string{"replicated registers are linearizable"}, judge(stale, b), "a stale read")
	lost := b
	lost.do(100, 110, 3, 1, Done)
	require.Equal(t, []string{"replicated registers are linearizable"}, judge(a, lost), "a lost write")
	unknown := b
	unknown.do(100, 0, 4, 0, "")
	require.Empty(t, judge(a, unknown))
	seen := a
	seen.do(200, 210, 0, 4, Done)
	require.Empty(t, judge(seen, unknown), "a write of unknown outcome took place")
	refused := b
	refused.do(100, 110, 4, 0, Refused)
	require.NotEmpty(t, judge(seen, refused), "a write that was refused took place")
}

// A violation says which operation is suspicious, and of which kind it is.
func TestTheSuspiciousOperationIsNamed(t *testing.T) {
	judge := func(a, b client) *Verdict { return Judge(forged(a.records, b.records), Limits{}) }
	var a, b client
	a.do(0, 10, 1, 0, Done)
	b.do(20, 30, 2, 1, Done)
	a.do(40, 50, 0, 2, Done)
	a.lease()
	b.do(40, 50, 0, 2, Done)
	v := judge(a, b)
	require.Empty(t, v.Violations)
	require.Equal(t, []int{1, 1}, []int{v.Counts["reads by lease"], v.Counts["reads by message"]})

	const rule = "replicated registers are linearizable: no order explains the 5 operations of key k; "
	stale := a
	stale.do(60, 70, 0, 1, Done)
	require.Equal(t, rule+"operation 5 of node 1, a read by message, began after the end of operation 1 of node 2, a write, "+
		"and saw value 1, which operation 1 of node 2, a write, had replaced", judge(stale, b).Violations[0].String())
	stale.lease()
	require.Contains(t, judge(stale, b).Violations[0].String(), "operation 5 of node 1, a read by lease, began")

	twice := b
	twice.do(80, 90, 4, 1, Done)
	require.Contains(t, judge(client{a.records[:4]}, twice).Violations[0].String(),
		"value 1 was replaced by operation 1 of node 2, a write, and operation 5 of node 2, a write")
}

func TestALostAcknowledgementIsSeen(t *testing.T) {
	var c client
	c.do(0, 10, 1, 0, Done)
	c.do(20, 30, 2, 1, Done)
	c.do(40, 50, 3, 0, Unknown)
	state := func(runs ...[2]uint64) Record {
		return Record{Kind: State, Applied: map[string][][2]uint64{Client(1, 1): runs}}
	}
	require.Empty(t, rules(forged(append(c.records, state([2]uint64{1, 3})))))
	require.Empty(t, rules(forged(append(c.records, state([2]uint64{1, 1}, [2]uint64{3, 3})))))
	require.Equal(t, []string{"what was acknowledged is not lost"}, rules(forged(append(c.records, state([2]uint64{1, 1})))))
}
