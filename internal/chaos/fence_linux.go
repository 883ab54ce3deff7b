package chaos

import (
	"path/filepath"
	"sync"

	"github.com/failaware/failaware/internal/chaos/member"
	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/edict/fence"
)

// store is a store with a fence, which outlives all nodes.
type store struct {
	mu    sync.Mutex // makes the log have the verdicts in order
	fence *fence.Fence
	write func(oracle.Record)
}

// storeName is the name of the store's only object.
const storeName = "everything"

func (r *runner) openStore() error {
	f, err := fence.Open(filepath.Join(r.dir, "fence"))
	r.store = store{fence: f, write: r.write}
	return err
}

// ask lets the fence decide on an edict, and logs the verdict.
func (s *store) ask(report member.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := oracle.Record{Kind: oracle.Obeyed, Group: member.GroupB, Text: report.Payload, From: member.Now(), Outcome: oracle.Refused}
	e, err := edict.Parse(report.Edict)
	if err == nil {
		_, err = s.fence.Do(storeName, &e, edict.Sum([]byte(report.Payload)), func(edict.Verdict) error {
			o.Outcome = oracle.Done
			return nil
		})
	}
	if err != nil {
		o.Key = err.Error()
	}
	o.To = member.Now()
	s.write(o)
}

func (s *store) close() {
	if s.fence != nil {
		_ = s.fence.Close()
	}
}
