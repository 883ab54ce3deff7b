package keep

import "github.com/failaware/failaware/internal/replica"

// Marks tell which place of the state the disk has. The zero value has none.
type Marks struct {
	records []mark // that are not on the disk yet
	stored  replica.Point
}

// mark says which place of the state a record stands for.
type mark struct {
	number uint64
	at     replica.Point
}

// Add notes a record that is being appended.
func (m *Marks) Add(number uint64, at replica.Point) {
	if !at.View.None() {
		m.records = append(m.records, mark{number, at})
	}
}

// Reach notes that all records through one are on the disk.
func (m *Marks) Reach(last uint64) {
	k := 0
	for k < len(m.records) && m.records[k].number <= last {
		m.stored = m.records[k].at
		k++
	}
	m.records = m.records[:copy(m.records, m.records[k:])]
}

// Stored returns the last place that is on the disk.
func (m *Marks) Stored() replica.Point { return m.stored }
