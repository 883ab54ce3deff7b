package bench

import (
	"context"
	"errors"
	"time"

	"github.com/failaware/failaware/timed"
)

// electionMeter drives a leader, round after round.
type electionMeter struct {
	*bare
	opt    *ElectionOptions
	ctx    context.Context
	nodes  int
	peers  timed.Set
	stopAt time.Time
	told   time.Time
	size   ElectionSize

	rounds, floors, firsts []time.Duration
}

// block is the number of successive rounds of one kind: enough to be back to back, and
// few enough that both kinds meet the same disturbances.
const block = 32

func (m *electionMeter) measure() (*ElectionSize, error) {
	m.size.Nodes = m.nodes
	if err := m.untilWhole(); err != nil {
		return nil, err
	}
	for i := range m.opt.First {
		if m.up() {
			break
		}
		if err := m.first(); err != nil {
			return nil, err
		}
		m.tell("%d nodes: %d of %d first elections", m.nodes, i+1, m.opt.First)
	}
	m.rounds, m.floors = make([]time.Duration, 0, m.opt.Count), make([]time.Duration, 0, m.opt.Count)
	for len(m.rounds) < m.opt.Count && !m.up() {
		for range min(block, m.opt.Count-len(m.rounds)) {
			if err := m.round(); err != nil {
				return nil, err
			}
		}
		if err := m.floorBlock(); err != nil {
			return nil, err
		}
		m.tell("%d nodes: %d of %d rounds", m.nodes, len(m.rounds), m.opt.Count)
	}
	if err := m.ctx.Err(); err != nil {
		return nil, err
	}
	s := &m.size
	s.Election, s.Floor, s.First = Summarize(m.rounds), Summarize(m.floors), Summarize(m.firsts)
	s.Distribution = histogram(m.rounds)
	s.CollatedPackets = float64(m.collated) / float64(max(len(m.rounds), 1))
	if s.Floor.Mean > 0 {
		s.Ratio = float64(s.Election.Mean) / float64(s.Floor.Mean)
	}
	s.RequestBytes, s.ReplyBytes = m.requestSize, m.replySize
	return s, nil
}

// up reports whether the time is up.
func (m *electionMeter) up() bool { return m.ctx.Err() != nil || time.Now().After(m.stopAt) }

// tell reports progress, once a second at most.
func (m *electionMeter) tell(format string, args ...any) {
	if time.Since(m.told) > time.Second {
		m.told = time.Now()
		m.opt.progress(format, args...)
	}
}

// untilWhole waits until the leader has the support of all and a view of all.
func (m *electionMeter) untilWhole() error {
	for patience := time.Now().Add(answerWait); ; {
		snap := m.stack.Snapshot(m.clock.Now())
		if snap.Leading && snap.Support.Len() == m.nodes && snap.View != nil && len(snap.View.Members) == m.nodes {
			return nil
		}
		if time.Now().After(patience) || m.ctx.Err() != nil {
			return errors.New("the nodes did not form a group")
		}
		if err := m.step(); err != nil {
			return err
		}
	}
}

// round measures one round of the leader.
func (m *electionMeter) round() error {
	before := m.stack.Election().LastRequest()
	m.stack.Election().RequestSoon()
	now := m.clock.Now()
	m.timeout(now)
	m.publish(now)
	m.send(true)
	request := m.stack.Election().LastRequest()
	if request == before {
		return m.step() // it cannot ask now: it has lost the lead, or was stopped
	}
	for m.wonRequest != request {
		if err := m.step(); err != nil {
			return err
		}
		if m.stack.Election().LastRequest() != request && m.wonRequest != request {
			m.size.Incomplete++ // it failed, and another round is under way
			return nil
		}
	}
	if m.stack.Election().Support().Len() != m.nodes {
		m.size.Incomplete++
		return nil
	}
	m.rounds = append(m.rounds, m.wonAt.Sub(request))
	return nil
}

// floorBlock measures a block of raw rounds. It ends before the next election is
// due, so that no election falls into it.
func (m *electionMeter) floorBlock() error {
	if m.peers.Empty() {
		return nil // there is no other node
	}
	end := m.stack.Election().LastRequest().Add(m.cfg.Timing.ElectionPeriod / 2)
	for range block {
		took, ok, err := m.rawRoundTrip(m.peers)
		if err != nil {
			return err
		}
		if ok {
			m.floors = append(m.floors, took)
		} else {
			m.size.Lost++
		}
		if m.clock.Now() >= end {
			return nil
		}
	}
	return nil
}

// first lets the leader sleep until its lease has expired, and measures the time from
// its next request until it leads again. (The others still consider it alive, and it
// precedes them by its id.)
func (m *electionMeter) first() error {
	if err := m.untilWhole(); err != nil {
		return err
	}
	expiration, _ := m.stack.Election().Leading()
	time.Sleep(expiration.Sub(m.clock.Now()) + time.Millisecond)
	start := m.clock.Now()
	for m.wonRequest < start {
		if err := m.step(); err != nil {
			return err
		}
		if m.clock.Now().Sub(start) > answerWait || m.ctx.Err() != nil {
			return errors.New("no node was elected")
		}
	}
	if m.stack.Election().Support().Len() != m.nodes {
		m.size.Incomplete++
		return nil
	}
	m.firsts = append(m.firsts, m.wonAt.Sub(m.wonRequest))
	return nil
}
