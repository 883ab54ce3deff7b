package main

import (
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/cli"
)

// Events of peers that come and go are too many for a log: links flap. Those who read the log
// the day after need the causes that lasted.

// saidEvery is how often the log may say of one peer that it is not alive.
const saidEvery = time.Minute

// peerWatch is what the log has said of peers and of the node, and what it waits to say. It is for one
// goroutine. The zero value has said nothing.
type peerWatch struct {
	down    map[failaware.NodeID]bool      // not alive at the last look, though heard before
	said    map[failaware.NodeID]time.Time // since when the log says that a peer is not alive
	last    map[failaware.NodeID]time.Time // when it said so last
	stalled time.Time                      // since when the loop does not answer; zero: it does
}

// look says what has changed for so long that two looks at the status have seen it: peers that
// are not alive any more, and those that are again; and that the loop takes no turns, or does again.
func (w *peerWatch) look(r *nodeRun, s *failaware.Status, now time.Time) {
	if s.Age < 0 && !s.Stopped {
		if w.stalled.IsZero() {
			w.stalled = now
			r.log.Error(errStuck.Error())
		}
		return
	}
	if !w.stalled.IsZero() {
		r.log.Warn("the loop takes turns again", "after", cli.Brief(now.Sub(w.stalled)))
		w.stalled = time.Time{}
	}
	if w.down == nil {
		w.down, w.said, w.last = map[failaware.NodeID]bool{}, map[failaware.NodeID]time.Time{}, map[failaware.NodeID]time.Time{}
	}
	for i := range s.Peers {
		if p := &s.Peers[i]; p.ID != failaware.NoNode {
			w.lookAt(r, s, p, now)
		}
	}
}

// lookAt says what has become of a peer. One that was never heard is the matter of warnOf.
func (w *peerWatch) lookAt(r *nodeRun, s *failaware.Status, p *failaware.PeerStatus, now time.Time) {
	since, said := w.said[p.ID]
	switch {
	case p.Alive:
		if said {
			r.log.Info("a peer is alive again", "peer", peerName(p), "after", cli.Brief(now.Sub(since)))
			delete(w.said, p.ID)
		}
		w.down[p.ID] = false
	case said || p.LastFast < 0:
	case !w.down[p.ID]:
		w.down[p.ID] = true
	case w.last[p.ID].IsZero() || now.Sub(w.last[p.ID]) >= saidEvery:
		w.said[p.ID], w.last[p.ID] = now, now
		r.log.Warn("a peer is not alive any more", "peer", peerName(p), "address", addressOf(p), "why", whySilent(p, s))
	}
}

// slept says that this process did not run, if a wait took so much longer than it should.
func (w *peerWatch) slept(r *nodeRun, took, wait time.Duration) {
	if late := took - wait; late >= time.Second {
		r.log.Warn("this process did not run: it was stopped, or its machine slept or was too busy", "for", cli.Brief(late))
	}
}
