package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// words are messages that name a view, each with a situation in which it counts.
var words = map[kind]struct {
	message
	cfg    Config
	before func(m *Replica)
}{
	kindReport:     {message: message{report: report{standing: Holder, lineage: Lineage{Label: Label{1}}}}, before: inPhase(reporting)},
	kindReady:      {message: message{digest: Digest{1}}, before: inPhase(merging)},
	kindAsk:        {before: asked},
	kindRefuse:     {message: message{name: Name{Label: Label{1}}}, before: served},
	kindRetry:      {before: func(m *Replica) { m.phase, m.refused = settled, timed.SetOf(2) }},
	kindHolds:      {cfg: Config{Quorum: majority(1, 2, 3)}, before: inPhase(settled)},
	kindBootstrap:  {before: unsettled},
	kindHash:       {message: message{at: Point{Position: 3}, sum: 5}, before: inPhase(settled)},
	kindStored:     {message: message{at: Point{Position: 3}}, cfg: Config{Stored: true}, before: inPhase(settled)},
	kindSettings:   {before: inPhase(reporting)},
	kindGeneration: {cfg: Config{Stored: true, Quorum: majority(1, 2, 3)}, before: inPhase(reporting)},
	kindPromised:   {cfg: Config{Stored: true, Quorum: majority(1, 2, 3)}, before: inPhase(settled)},
}

func inPhase(p phase) func(*Replica) { return func(m *Replica) { m.phase = p } }

func asked(m *Replica) {
	served(m)
	m.branches, m.reports = []branch{{members: timed.SetOf(1)}}, []*report{{}, {}, {}}
}

func unsettled(m *Replica) { m.phase, m.reports = waiting, []*report{{}, {}, {}} }

func served(m *Replica) {
	m.phase = settled
	m.services = []service{{name: Name{Label: Label{1}}, source: 1, receivers: timed.SetOf(3)}}
}

// foreignWords requires that a word about another view changes nothing, whenever it comes:
// the broadcast gives what a view did not order to the next. The same word about the
// present view counts, or else the test would show nothing.
func foreignWords(t testing.TB) {
	v := &membership.View{ID: membership.ViewID{Sequence: 9, Leader: 1, Boot: incarnation(0).Boot}, Set: timed.SetOf(1, 2, 3)}
	for i := range 3 {
		v.Members = append(v.Members, membership.Member{Incarnation: incarnation(i)})
	}
	for k, w := range words {
		changes := func(view membership.ViewID) []string {
			cfg := w.cfg
			cfg.Self = incarnation(0)
			m, untouched := New(cfg, Earlier{}), New(cfg, Earlier{})
			for _, x := range []*Replica{m, untouched} {
				x.begin(v)
				w.before(x)
				x.out = nil
			}
			msg := w.message
			msg.kind, msg.view, msg.report.view, msg.at.View = k, view, view, view
			d := broadcast.Delivery{ID: broadcast.ID{Sender: 2, Boot: incarnation(1).Boot, Class: broadcast.ClassOrdered}, Position: 4, Payload: encode(&msg)}
			if !msg.ordered() {
				d.Class = broadcast.ClassUnordered
			}
			out := m.HandleDelivery(7, d, nil)
			names := append(leftover.Differ(m, untouched, "cfg", "now", "viewState"), leftover.Differ(&m.viewState, &untouched.viewState, "seen", "whole", "due")...)
			if len(out) > 0 {
				names = append(names, "effects")
			}
			return names
		}
		for _, other := range []membership.ViewID{
			{Sequence: 8, Leader: 1, Boot: v.ID.Boot}, {Sequence: 9, Leader: 2, Boot: incarnation(1).Boot}, {Sequence: 9, Leader: 1, Boot: v.ID.Boot + 1},
		} {
			require.Empty(t, changes(other), "message %d of view %v", k, other)
		}
		require.NotEmpty(t, changes(v.ID), "message %d of this view", k)
	}
}

func TestWordsAboutAnotherViewChangeNothing(t *testing.T) { foreignWords(t) }
