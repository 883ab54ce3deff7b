package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// answersForOneBoot reports whether a member that asks for messages of another incarnation
// gets none.
func answersForOneBoot(t testing.TB) bool {
	g := newTrio(2, Config{})
	s, self := g.nodes[0], incarnation(0)
	_, err := g.cast(0, []byte("x"), total)
	require.NoError(t, err)
	answers := func(w Want) int {
		s.HandlePacket(g.now, incarnation(1), &Packet{Wants: []Want{w}}, nil)
		return len(s.answer(clocksync.Reading{}, nil))
	}
	w := Want{Sender: self.Node, Boot: self.Boot, Class: ClassOrdered, From: 1, To: 1}
	other := w
	other.Boot++
	return answers(w) == 1 && answers(other) == 0
}

func TestAnswersAreForOneIncarnation(t *testing.T) { require.True(t, answersForOneBoot(t)) }

// answersLogsInBounds reports whether members that ask for all decisions, again and again,
// get no more in one turn than the bound.
func answersLogsInBounds() bool {
	g := newTrio(2, Config{})
	s := g.nodes[0]
	for k := uint64(1); k < logSize; k++ {
		s.log.put(&Decision{Number: k, Ranges: make([]Range, 4)})
	}
	for range maxAnswers {
		s.handleLogWant(incarnation(1), Span{From: 1, To: logSize - 1})
	}
	bytes := 0
	for _, e := range s.answer(clocksync.Reading{}, nil) {
		bytes += weightOf(e.Packet)
	}
	return bytes > answerBytes/2 && bytes <= answerBytes+decisionWeight+4*rangeWeight
}

func TestAnswersOfDecisionsAreBounded(t *testing.T) { require.True(t, answersLogsInBounds()) }

// A request for more decisions than there can be costs no more than one for all of them.
func TestARequestForEverythingEnds(t *testing.T) {
	s := newTrio(2, Config{}).nodes[0]
	for _, full := range []bool{false, true} {
		for _, span := range []Span{{From: 1, To: 1<<64 - 1}, {From: 1<<64 - 1, To: 1<<64 - 1}, {From: 1 << 63, To: 1<<64 - 1}} {
			s.answers = append(s.answers, answer{to: 2, log: span, full: full})
			require.Empty(t, s.answer(clocksync.Reading{}, nil))
		}
	}
}
