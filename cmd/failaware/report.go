package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/trust"
	"github.com/failaware/failaware/timed"
)

// claim is one line of the report: a claim of the node for [GrantedAt, Until) of the
// machine's hardware clock, or until a line with the kind's end. See docs/how-to/report.md.
type claim struct {
	Kind      string `json:"kind"` // lead, global, view, and each with _end
	Node      int    `json:"node"`
	Boot      string `json:"boot"`
	Era       uint32 `json:"era"`
	GrantedAt int64  `json:"granted_at,omitempty"`
	Until     int64  `json:"until,omitempty"`
	At        int64  `json:"at,omitempty"` // of an end
	Renewal   bool   `json:"renewal,omitempty"`
	Support   []int  `json:"support,omitempty"`
	View      string `json:"view,omitempty"`
	Members   []int  `json:"members,omitempty"`
}

// reporter appends claims to a file. Each line is one write, of which a process that is killed
// may leave a part.
type reporter struct {
	file               *os.File
	log                hclog.Logger
	lead, global, view standing
}

// standing is a present claim of a node; the zero value is no claim.
type standing struct {
	self   failaware.Incarnation
	era    uint32
	until  timed.Instant
	object any // a set or the id of a view; a claim about another object is not a renewal
}

func openReport(path string, log hclog.Logger) (*reporter, error) {
	f, err := trust.Open(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644, trust.Public)
	if err != nil {
		return nil, err
	}
	if err := endLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &reporter{file: f, log: log}, nil
}

// checkReport returns the error with which openReport would fail. It changes nothing.
func checkReport(path string) error {
	dir := filepath.Dir(path)
	f, err := trust.Open(path, os.O_APPEND|os.O_RDWR, 0, trust.Public)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.ReadDir(dir); errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.CheckDir(dir)
}

// endLine completes a line that a killed process has left unfinished.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	var last [1]byte
	if _, err = f.ReadAt(last[:], info.Size()-1); err == nil && last[0] != '\n' {
		_, err = f.WriteString("\n")
	}
	return err
}

// published writes the changes of a node's claims.
func (r *reporter) published(p failaware.Published) {
	var lead, global, view standing
	if p.Leading && p.Turn < p.LeadUntil {
		lead = standing{p.Self, p.Era, p.LeadUntil, p.Support}
	}
	if p.Global && p.Turn < p.GlobalUntil {
		global = standing{p.Self, p.Era, p.GlobalUntil, nil}
	}
	if p.Turn < p.ViewUntil {
		view = standing{p.Self, p.Era, p.ViewUntil, p.View.ID}
	}
	r.change("lead", &r.lead, lead, &p)
	r.change("global", &r.global, global, &p)
	r.change("view", &r.view, view, &p)
}

// change writes the end of the claim before and the beginning of the next one.
func (r *reporter) change(kind string, standing *standing, next standing, p *failaware.Published) {
	before := *standing
	if next == before {
		return
	}
	*standing = next
	renewal := next.self == before.self && next.era == before.era && next.object == before.object &&
		p.Turn < before.until && next.until >= before.until
	if before.self.Valid() && !renewal {
		end := before.claim(kind + "_end")
		end.At = int64(timed.Earlier(p.Done, before.until))
		r.write(end)
	}
	if !next.self.Valid() {
		return
	}
	begin := next.claim(kind)
	begin.GrantedAt, begin.Until, begin.Renewal = int64(p.Turn), int64(next.until), renewal
	switch kind {
	case "lead":
		begin.Support = idsOf(p.Support)
	case "view":
		begin.Members = idsOf(p.View.Set)
	}
	r.write(begin)
}

// claim returns a line about the standing.
func (s *standing) claim(kind string) claim {
	c := claim{Kind: kind, Node: int(s.self.Node), Boot: s.self.Boot.String(), Era: s.era}
	if id, ok := s.object.(failaware.ViewID); ok {
		c.View = id.String()
	}
	return c
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
