package keep

import "github.com/failaware/failaware/internal/replica"

// Marks tell which place of the state the disk has. The zero value has none.
type Marks struct {
	records []mark // that are not on the disk yet
	stored  replica.Point
	rank    uint64
}

// mark says which place of the state a record stands for.
type mark struct {
	number uint64
	at     replica.Point
	rank   uint64
}

// Add notes a step whose record is being appended.
func (m *Marks) Add(s *Step) {
	if !s.At.View.None() {
		m.records = append(m.records, mark{s.Number, s.At, s.Rank})
	}
}

// Reach notes that all records through one are on the disk.
func (m *Marks) Reach(last uint64) {
	k := 0
	for k < len(m.records) && m.records[k].number <= last {
		m.stored, m.rank = m.records[k].at, m.records[k].rank
		k++
	}
	m.records = m.records[:copy(m.records, m.records[k:])]
}

// Stored returns the last place that is on the disk, and the rank of the state there.
func (m *Marks) Stored() (at replica.Point, rank uint64) { return m.stored, m.rank }
