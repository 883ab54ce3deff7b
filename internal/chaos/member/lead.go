package member

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/chaos/oracle"
)

// lead waits for the global lead again and again, and watches the context that it gets.
func (m *member) lead(ctx context.Context) {
	for number := uint64(1); ctx.Err() == nil; number++ {
		c := claim{log: m.log}
		lead, cancel, err := m.a.LeadGlobally(ctx)
		for boot := m.a.GlobalLeader().Boot; err == nil; {
			r := oracle.Record{Kind: oracle.Context, Group: GroupA, Number: number, Boot: uint64(boot), From: Now()}
			if err = lead.Err(); err == nil {
				r.To = Now()
				c.note("lasts", r)
				time.Sleep(pollEvery)
			}
		}
		c.note("", oracle.Record{})
		cancel()
	}
}

// holdEvery is the time between two holds. Each one makes the next leader wait.
const holdEvery = 150 * time.Millisecond

// handOverOne is the number of holds for one hand-over, which must wait for the end of the
// hold.
const handOverOne = 8

// hold asks both nodes for holds while they lead.
func (m *member) hold(ctx context.Context) {
	for rest(ctx, holdEvery) {
		held := false
		if m.a.LeadsGlobally() {
			m.holdOne(ctx, oracle.Hold, GroupA, m.a.HoldGlobally)
			held = true
		}
		if m.b.Leads() {
			m.holdOne(ctx, oracle.HoldLocal, GroupB, m.b.Hold)
			held = true
		}
		if held && rand.IntN(handOverOne) == 0 && !m.quiet.Load() {
			m.handOver(ctx)
		}
	}
}

// handOver gives up the leads, in favour of a random node.
func (m *member) handOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, oneWait)
	defer cancel()
	to := failaware.NodeID(1 + rand.IntN(len(m.cfg.Peers)))
	for _, n := range []*failaware.Node{m.a, m.b} {
		_ = n.HandOver(ctx, to) // it may not lead any more, or be the successor itself
	}
}

func (m *member) holdOne(ctx context.Context, kind, group string, ask func(context.Context) (failaware.Hold, error)) {
	r := oracle.Record{Kind: kind, Group: group, From: Now()}
	h, err := ask(ctx)
	r.To = Now()
	if err != nil {
		return
	}
	// The hold began before the call of ValidFor.
	before := Now()
	left := int64(h.ValidFor())
	r.Boot, r.Until = uint64(h.By.Boot), before+left-left/1000
	if left > 0 {
		m.log.write(r)
	}
}

// text names a message or a value of this process.
func (m *member) text(number uint64) string {
	return fmt.Sprintf("%d.%d.%d", m.cfg.Node, m.cfg.Process, number)
}
