package clocksync

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Forward chooses samples of this node's own references that travel to the leader with
// the vote: new samples, and each again from time to time. Its effect is SendSamples,
// unless there are none to send.
func (c *Sync) Forward(now timed.Instant, leader timed.Incarnation, out []Effect) []Effect {
	t := c.sources
	if t == nil || c.snap.own {
		return out
	}
	if t.toldTo != leader {
		t.toldTo = leader
		for k := range t.list {
			t.list[k].told = 0
		}
	}
	var f Forwarded
	for range t.list {
		t.next = (t.next + 1) % len(t.list)
		r := &t.list[t.next]
		if r.node != c.cfg.Self.Node || now.Sub(r.newest) > SampleLife ||
			r.told >= forwardTimes && now.Sub(r.toldAt) < forwardEvery {
			continue
		}
		i := r.project(r.newest, c.snap.rho) // older samples may have come since
		f.List[f.Count] = Sample{Source: r.source, At: i.at, Low: i.low, High: i.high, Leap: r.leap}
		if !f.List[f.Count].Valid() {
			f.List[f.Count] = Sample{}
			continue // it has become too wide for a packet, which carries a vote as well
		}
		r.told, r.toldAt = min(r.told+1, forwardTimes), now
		if f.Count++; f.Count == MaxForwarded {
			break
		}
	}
	if f.Count == 0 {
		return out
	}
	return append(out, Effect{Kind: SendSamples, Peer: leader.Node, Samples: f})
}

// utc returns what this node says of UTC; ok is false if it knows nothing, not even who has proved
// it.
func (c *Sync) utc(now timed.Instant) (u UTC, ok bool) {
	s := &c.snap.utc
	if s.state == UTCDisputed {
		return UTC{State: UTCDisputed}, true
	}
	if s.state == UTCKnown && (s.void == 0 || now < s.void) {
		u = UTC{State: UTCKnown, At: s.at, Low: s.low, High: s.high, Leap: s.leap}
	}
	if n, _ := c.proof.counts(now); n > 0 {
		u.Proved, u.ProofAge = uint8(n), max(now.Sub(c.proof.at), 0).Truncate(time.Second)
	}
	return u, u.says()
}

// Tell says what this node knows of UTC to a leader that has announced u, or nothing, and knows of
// fewer references that have proved UTC. A node that has restarted may lead before it has followed
// anybody. The effect is TellUTC, unless there is nothing to say.
func (c *Sync) Tell(now timed.Instant, leader timed.NodeID, u *UTC, out []Effect) []Effect {
	if u != nil && u.State == UTCDisputed {
		return out
	}
	if own, _ := c.utc(now); own.Proved > 0 && (u == nil || own.Proved > u.Proved) {
		return append(out, Effect{Kind: TellUTC, Peer: leader, UTC: own})
	}
	return out
}

// HandleTold takes what a node that has been asked for its vote knows of UTC. H_node − H_self lies
// in [lo, hi] at now. It counts if more references have proved it than this node knows of.
func (c *Sync) HandleTold(now timed.Instant, u *UTC, lo, hi time.Duration, out []Effect) []Effect {
	n, _ := c.proof.counts(now)
	if int(u.Proved) <= n || c.snap.utc.state == UTCDisputed {
		return out
	}
	return c.takeOver(now, u, lo, hi, out)
}

// HandleUTC takes the leader's announcement of UTC. H_leader − H_self lies in [lo, hi]
// at now.
func (c *Sync) HandleUTC(now timed.Instant, u *UTC, lo, hi time.Duration, out []Effect) []Effect {
	// Until the leader has heard of more that have proved UTC, what they have proved stays. Earlier
	// builds do not listen, and name none.
	own, _ := c.utc(now)
	if c.snap.own || own.State == UTCKnown && u.State == UTCKnown && 0 < u.Proved && u.Proved < own.Proved {
		return out
	}
	return c.takeOver(now, u, lo, hi, out)
}

// takeOver takes what another node says of UTC.
func (c *Sync) takeOver(now timed.Instant, u *UTC, lo, hi time.Duration, out []Effect) []Effect {
	if lo > hi || !u.Valid() || !u.says() {
		return out
	}
	out = c.expire(now, out)
	switch u.State {
	case UTCDisputed:
		if c.sources != nil {
			c.sources.steer.lost()
		}
		return c.setUTC(utcBound{state: UTCDisputed}, out)
	case UTCUnknown:
		if n, _ := c.proof.counts(now); int(u.Proved) > n {
			c.proof = proof{int(u.Proved), now.Add(-u.ProofAge)}
		}
		return out
	}
	i := interval{u.At, u.Low, u.High}.mapped(now, now.Add(lo), now.Add(hi), c.snap.rho)
	if !i.reachable() {
		return out
	}
	b := utcBound{interval: i, state: UTCKnown, leap: u.Leap}
	b.void = b.voidFrom(u.Leap, c.snap.rho)
	// What this node's references have proved is given up.
	c.proof = proof{int(u.Proved), now.Add(-u.ProofAge)}
	out = c.setUTC(b, out)
	return c.compare(now, out)
}
