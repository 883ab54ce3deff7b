package main

import (
	"encoding/json"
	"os"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// claim is one line of the report: what the node vouches for in
// [GrantedAt, Until) of the machine's hardware clock, or until a line with the
// kind's end comes. See docs/report.md.
type claim struct {
	Kind      string `json:"kind"` // lead, global, view, and each with _end
	Node      int    `json:"node"`
	Boot      string `json:"boot"`
	Epoch     uint32 `json:"epoch"`
	GrantedAt int64  `json:"granted_at,omitempty"`
	Until     int64  `json:"until,omitempty"`
	At        int64  `json:"at,omitempty"` // of an end
	Renewal   bool   `json:"renewal,omitempty"`
	Support   []int  `json:"support,omitempty"`
	View      string `json:"view,omitempty"`
	Members   []int  `json:"members,omitempty"`
}

// reporter writes claims. Each line is one write to a file that is appended to,
// so that it is whole even if the process is killed.
type reporter struct {
	file *os.File
	log  hclog.Logger
	lead leadClaim
	view viewClaim

	global globalClaim
}

type globalClaim struct {
	self  failaware.Incarnation
	epoch uint32
	until timed.Instant
}

type leadClaim struct {
	self    failaware.Incarnation
	epoch   uint32
	until   timed.Instant
	support failaware.Set
}

type viewClaim struct {
	self  failaware.Incarnation
	epoch uint32
	until timed.Instant
	id    failaware.ViewID
}

func openReport(path string, log hclog.Logger) (*reporter, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &reporter{file: f, log: log}, nil
}

// published notes what a node's answers rest on from now on.
func (r *reporter) published(p failaware.Published) {
	r.leads(&p)
	r.globally(&p)
	r.views(&p)
}

func (r *reporter) leads(p *failaware.Published) {
	var next leadClaim
	if p.Leading && p.Turn < p.LeadUntil {
		next = leadClaim{p.Self, p.Epoch, p.LeadUntil, p.Support}
	}
	before := r.lead
	if next == before {
		return
	}
	r.lead = next
	renewal := next.self == before.self && next.epoch == before.epoch && p.Turn < before.until &&
		next.until >= before.until && next.support == before.support
	if before.self.Valid() && !renewal {
		r.write(claim{Kind: "lead_end", Node: int(before.self.Node), Boot: before.self.Boot.String(),
			Epoch: before.epoch, At: int64(timed.Earlier(p.Done, before.until))})
	}
	if next.self.Valid() {
		r.write(claim{Kind: "lead", Node: int(next.self.Node), Boot: next.self.Boot.String(), Epoch: next.epoch,
			GrantedAt: int64(p.Turn), Until: int64(next.until), Renewal: renewal, Support: idsOf(next.support)})
	}
}

func (r *reporter) globally(p *failaware.Published) {
	var next globalClaim
	if p.Global && p.Turn < p.GlobalUntil {
		next = globalClaim{p.Self, p.Epoch, p.GlobalUntil}
	}
	before := r.global
	if next == before {
		return
	}
	r.global = next
	renewal := next.self == before.self && next.epoch == before.epoch && p.Turn < before.until && next.until >= before.until
	if before.self.Valid() && !renewal {
		r.write(claim{Kind: "global_end", Node: int(before.self.Node), Boot: before.self.Boot.String(),
			Epoch: before.epoch, At: int64(timed.Earlier(p.Done, before.until))})
	}
	if next.self.Valid() {
		r.write(claim{Kind: "global", Node: int(next.self.Node), Boot: next.self.Boot.String(), Epoch: next.epoch,
			GrantedAt: int64(p.Turn), Until: int64(next.until), Renewal: renewal})
	}
}

func (r *reporter) views(p *failaware.Published) {
	var next viewClaim
	if p.View != nil && p.Turn < p.ViewUntil {
		next = viewClaim{p.Self, p.Epoch, p.ViewUntil, p.View.ID}
	}
	before := r.view
	if next == before {
		return
	}
	r.view = next
	renewal := next.self == before.self && next.epoch == before.epoch && next.id == before.id &&
		p.Turn < before.until && next.until >= before.until
	if before.self.Valid() && !renewal {
		r.write(claim{Kind: "view_end", Node: int(before.self.Node), Boot: before.self.Boot.String(),
			Epoch: before.epoch, At: int64(timed.Earlier(p.Done, before.until)), View: before.id.String()})
	}
	if next.self.Valid() {
		r.write(claim{Kind: "view", Node: int(next.self.Node), Boot: next.self.Boot.String(), Epoch: next.epoch,
			GrantedAt: int64(p.Turn), Until: int64(next.until), Renewal: renewal, View: next.id.String(),
			Members: idsOf(p.View.Set)})
	}
}

func idsOf(s failaware.Set) (ids []int) {
	for id := range s.All() {
		ids = append(ids, int(id))
	}
	return ids
}

func (r *reporter) write(c claim) {
	if r.file == nil {
		return
	}
	b, err := json.Marshal(c)
	if err == nil {
		_, err = r.file.Write(append(b, '\n'))
	}
	if err != nil {
		r.log.Error("the report ends here", "error", err)
		_ = r.file.Close()
		r.file = nil
	}
}
