package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// A snapshot that nobody could make is sent after an offer in the order, which its pieces
// can overtake. They come only once. (Campaign state-disks, seed 490.)
func TestPiecesOvertakeTheOfferToMakeASnapshot(t *testing.T) {
	n := Name{Label: Label{1}}
	m := &Replica{viewState: viewState{phase: merging}}
	require.False(t, m.wants(n))
	m.stuck = []service{{name: n}}
	require.True(t, m.wants(n))
}

// The pieces of a snapshot whose first source has refused can come before the reports of the
// members, to a node that is behind. They come only once. (Campaign state-change-memory, seed
// 563, where three nodes waited for ever.)
func piecesBeforeReports(t testing.TB) {
	w := newWorld(3, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.nodes[0].refuses = true
	behind := lane{2, broadcast.ClassOrdered}
	w.tardy = []lane{behind}
	w.install(0, 1, 2)
	w.op(0, "b")
	w.run(10 * time.Millisecond)
	require.Positive(t, w.nodes[1].chunks)
	require.Equal(t, Reporting, w.nodes[2].r.Situation())
	w.catchUp(behind)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1, 2)
}

func TestPiecesOvertakeTheReports(t *testing.T) { piecesBeforeReports(t) }

// A node that gets several states for a merge says how much of all has come, and no sender.
func TestProgressOfAMergeHasNoSender(t *testing.T) {
	cfg := Config{}.WithDefaults()
	m := &Replica{cfg: cfg, viewState: viewState{phase: merging}}
	m.cfg.Self.Node = 3
	for id := range timed.NodeID(2) {
		n := Name{Label: Label{byte(id)}}
		m.services = append(m.services, service{name: n, source: id + 1})
		m.incoming = append(m.incoming, &incoming{name: n, size: 10, data: cfg.NewContent(), from: id + 1})
		p, waits := m.Progress()
		require.True(t, waits)
		require.EqualValues(t, 10*(id+1), p.Total)
		require.Equal(t, id == 0, p.From == 1)
		require.Equal(t, id == 1, p.From == timed.NoNode)
	}
}

// A node that has the state keeps nothing of an abandoned transfer: it may be large.
func TestAHolderKeepsNoSpare(t *testing.T) {
	w := newWorld(2, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.nodes[0].r.spare = w.content("of another state")
	w.install(0, 1)
	require.Equal(t, Working, w.nodes[0].r.Situation())
	require.Nil(t, w.nodes[0].r.spare)
}

// damagedBeside has a damaged snapshot end a transfer while a part of another one is here: that of
// the state at a later position, which has overtaken its marker. The joiner finds the damage when
// it learns which of them it needs: from the reports, or from a refusal.
func damagedBeside(t testing.TB) {
	for _, refused := range []bool{false, true} {
		w := newWorld(3, Config{})
		w.install(0, 1)
		w.op(0, "aaaa")
		behind := lane{2, broadcast.ClassOrdered}
		w.hold = func(_ int, payload []byte) bool { return kind(payload[0]) == kindChunk }
		w.tardy = []lane{behind}
		view := w.install(0, 1, 2)
		joiner, label := w.nodes[2].r, w.nodes[0].r.lineage.Label
		needed, later := Name{Label: label}, Name{Label: label, View: view.ID, Position: 90}
		if refused {
			w.catchUp(behind)
			require.Equal(t, Transferring, joiner.Situation())
			needed = Name{Label: label, View: view.ID, Position: 80}
		}
		for i, n := range []Name{needed, later} {
			whole := message{kind: kindChunk, name: n, digest: Digest{byte(i + 1)}, size: 4, body: []byte("abcd")}
			d := broadcast.Delivery{ID: broadcast.ID{Sender: 1, Boot: w.nodes[0].inc.Boot, Class: broadcast.ClassUnordered, Sequence: 99}, Options: unordered, Payload: encode(&whole)}
			w.perform(2, joiner.HandleDelivery(w.now, d, nil))
		}
		require.Len(t, joiner.incoming, 2)
		require.NotPanics(t, func() {
			if refused {
				w.perform(2, joiner.turn(w.now, nil, func() { joiner.restart(timed.SetOf(3), 80) }))
			}
			w.catchUp(behind)
		})
		_, corrupt := w.nodes[2].has(EventCorrupt)
		require.True(t, corrupt, "refused %v", refused)
	}
}

func TestADamagedSnapshotEndsATransferBesideAnother(t *testing.T) { damagedBeside(t) }
