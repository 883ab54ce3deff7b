package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
)

// endlessRequests reports whether one turn takes a bounded number of requests, of members
// only.
func endlessRequests() bool {
	g := newTrio(3, Config{})
	g.turn()
	s := g.nodes[0]
	stranger := &Packet{Log: Span{From: 1, To: 1}}
	s.HandlePacket(g.now, incarnation(1), stranger, nil)
	if len(s.answers) > 0 { // decisions of another view have other numbers
		return false
	}
	for range 2 * maxAnswers {
		s.handleWant(incarnation(1), Want{Sender: 1, Boot: 1, From: 1, To: 1})
	}
	if len(s.answers) != maxAnswers {
		return false
	}
	s.answers = nil
	for range 2 * maxAnswers {
		s.handleLogWant(incarnation(1), Span{From: 1, To: 1})
	}
	return len(s.answers) == maxAnswers
}

func TestRequestsAreBounded(t *testing.T) { require.True(t, endlessRequests()) }

// otherPieces reports whether pieces fit that say of how many they are in two ways.
func otherPieces() (fit bool) {
	defer func() { fit = fit || recover() != nil }()
	var z assembly[Report]
	z.put(Piece{0, 2}, &Report{})
	z.put(Piece{2, 3}, &Report{})
	return z.put(Piece{1, 3}, &Report{}) || z.missing != 1
}

func TestPiecesOfTwoWholesDoNotFit(t *testing.T) { require.False(t, otherPieces()) }

// otherTerms reports whether a proposal gets the terms of another one.
func otherTerms() bool {
	id := membership.ViewID{Sequence: 2, Leader: 1, Boot: 1}
	s := &Service{cfg: Config{}.WithDefaults(), committed: cutCommit(&Commit{Proposal: id}, MinPacketBytes)}
	if with, _, _ := s.Terms(id); with == nil {
		return true
	}
	id.Sequence++
	with, before, _ := s.Terms(id)
	return with != nil || len(before) > 0
}

func TestTermsAreThoseOfTheProposal(t *testing.T) { require.False(t, otherTerms()) }

// recalledLate reports whether a state is taken that others have not heard of, after they
// were told what this node has.
func recalledLate() bool {
	s := New(Config{Self: incarnation(0)})
	s.Freeze(0, viewOf(1, 0), false)
	return s.RecallOrdered([]Mark{{1, 1, 7}})
}

func TestNothingIsRecalledAfterAReport(t *testing.T) { require.False(t, recalledLate()) }

// slowInTheNextView reports whether a node that was slow when a view ended acknowledges
// decisions in the next one.
func slowInTheNextView() bool {
	g := newTrio(3, Config{})
	g.turn()
	s := g.nodes[0]
	s.slow.on, s.slow.acked = true, 5
	s.beginView(viewOf(2, 0, 1, 2))
	s.have = 3
	return s.acknowledged() > 0
}

func TestASlowNodeIsSlowInTheNextView(t *testing.T) { require.False(t, slowInTheNextView()) }
