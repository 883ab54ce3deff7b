package member

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/quorum"
)

const (
	decideEvery = 20 * time.Millisecond
	// underWay is the longest time of an edict on its way to the fence: several leads.
	underWay = 300 * time.Millisecond
)

// decide makes edicts and timestamps in turn while this node leads globally. Some edicts
// go to the fence of the harness, after a while.
func (m *member) decide(ctx context.Context) {
	for number := uint64(1); rest(ctx, decideEvery); number++ {
		r := oracle.Record{Kind: oracle.Edict, Group: GroupB, Text: m.text(number), From: Now()}
		e, err := m.edict(number, r.Text)
		r.To = Now()
		if err != nil {
			continue // it does not lead
		}
		r.Epoch, r.Number = e.Epoch, e.Counter
		for _, s := range e.Stamps {
			r.Stamps = append(r.Stamps, oracle.Stamp{Node: int(s.Node), Incarnation: s.Counter, Boot: uint64(s.Boot), At: int64(s.At)})
		}
		m.log.write(r)
		if number%4 == 0 {
			time.AfterFunc(rand.N(underWay), func() { m.print(Report{Edict: e.String(), Payload: r.Text}) })
		}
	}
}

// edict makes an edict, or a timestamp: an edict without a payload.
func (m *member) edict(number uint64, payload string) (edict.Edict, error) {
	if number%2 == 0 {
		return m.b.Edict([]byte(payload))
	}
	t, err := m.b.Timestamp()
	if err != nil {
		return edict.Edict{}, err
	}
	return edict.Edict{Epoch: t.Quorum.Epoch, Counter: t.Counter, Stamps: t.Quorum.Stamps}, nil
}

// changeWait is how long a change may take. No other command is performed meanwhile.
const changeWait = 3 * time.Second

// change begins an epoch of a group whose quorums are the majorities of voters, unless the
// present one has them.
func (m *member) change(ctx context.Context, group string, voters []int) error {
	ctx, cancel := context.WithTimeout(ctx, changeWait)
	defer cancel()
	n := map[string]*failaware.Node{GroupA: m.a, GroupB: m.b}[group]
	if n == nil {
		return fmt.Errorf("no such group: %q", group)
	}
	var members failaware.Set
	for _, id := range voters {
		members.Add(failaware.NodeID(id))
	}
	next, err := quorum.Majority(members)
	if err != nil || n.Epoch().System == next.String() {
		return err
	}
	return n.ChangeQuorum(ctx, next)
}
