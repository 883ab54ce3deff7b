package session

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// naive is a table without regard to size and speed: it forgets nothing by itself, and
// looks at each question which answer the limits allow.
type naive struct {
	uses, expired uint64
	sessions      map[ID]*naiveSession
}

type naiveSession struct {
	opened, used, last uint64
	done               map[uint64]naiveResult
}

type naiveResult struct {
	command string
	result  any
	dropped bool
}

func (m *naive) copy() *naive {
	c := &naive{m.uses, m.expired, map[ID]*naiveSession{}}
	for id, s := range m.sessions {
		c.sessions[id] = &naiveSession{s.opened, s.used, s.last, maps.Clone(s.done)}
	}
	return c
}

// ids returns the sessions in the order in which they end.
func (m *naive) ids() []ID {
	return slices.SortedFunc(maps.Keys(m.sessions), func(a, b ID) int {
		if x, y := m.sessions[a].used, m.sessions[b].used; x != y {
			return int(x) - int(y)
		}
		return a.compare(b)
	})
}

func (m *naive) expire(l Limits) {
	for ids := m.ids(); len(ids) > l.Sessions; ids = ids[1:] {
		m.expired = max(m.expired, m.sessions[ids[0]].used)
		delete(m.sessions, ids[0])
	}
}

func (m *naive) open(l Limits, id ID) {
	m.uses++
	m.sessions[id] = &naiveSession{m.uses, m.uses, 0, map[uint64]naiveResult{}}
	m.expire(l)
}

// use returns the answer to an operation, which has the result if it is applied.
func (m *naive) use(l Limits, id ID, number uint64, command string, result any) Answer {
	s := m.sessions[id]
	if s == nil {
		return Answer{Err: ErrExpired}
	}
	m.uses++
	s.used = m.uses
	d, applied := s.done[number]
	switch old := number == 0 || number+uint64(l.Window) <= s.last; {
	case old:
		return Answer{Err: ErrTooOld}
	case applied && d.command != command:
		return Answer{Err: ErrReused}
	case applied && d.dropped:
		return Answer{Repeated: true, Err: ErrResultGone}
	case applied:
		return Answer{Repeated: true, Result: d.result}
	}
	s.done[number] = naiveResult{command, result, false}
	s.last = max(s.last, number)
	s.drop(l)
	return Answer{Result: result}
}

// drop drops the results for which there is no room. The newest have it first.
func (s *naiveSession) drop(l Limits) {
	room := l.Bytes
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(s.done))) {
		d := s.done[n]
		if n+uint64(l.Window) <= s.last || d.dropped {
			continue
		}
		if size := len(encodeResult(d.result, l.Bytes)); size == 0 || size > room {
			d.dropped = true
			s.done[n] = d
		} else {
			room -= size
		}
	}
}

func mergeNaive(l Limits, branches []*naive) *naive {
	m := &naive{sessions: map[ID]*naiveSession{}}
	for _, b := range branches {
		m.uses, m.expired = max(m.uses, b.uses), max(m.expired, b.expired)
		for id, s := range b.sessions {
			if slices.ContainsFunc(branches, func(o *naive) bool { return o.sessions[id] == nil && s.opened <= o.expired }) {
				continue
			}
			to := m.sessions[id]
			if to == nil {
				to = &naiveSession{opened: s.opened, done: map[uint64]naiveResult{}}
				m.sessions[id] = to
			}
			to.used, to.last = max(to.used, s.used), max(to.last, s.last)
			for n, d := range s.done {
				if _, ok := to.done[n]; !ok {
					to.done[n] = d
				}
			}
		}
	}
	for _, s := range m.sessions {
		s.drop(l)
	}
	m.expire(l)
	return m
}

// number is an operation of a session.
type number struct {
	id ID
	n  uint64
}

// twin is one of several states that parted.
type twin struct {
	table   *Table
	naive   *naive
	applied map[number]bool // in all states that it was merged from
}

// naiveLife plays random operations on states that part and are merged, and counts what
// comes of them.
func naiveLife(t testing.TB, seed uint64, met map[string]int) {
	r := rand.New(rand.NewPCG(seed, 0))
	limits := Limits{Sessions: 1 + r.IntN(4), Window: 1 + r.IntN(5), Bytes: 8 + r.IntN(40)}
	branches := []twin{{NewTable(limits), &naive{sessions: map[ID]*naiveSession{}}, map[number]bool{}}}
	var ids []ID
	closed := map[ID]bool{} // in some state; its caller has promised to use it no more
	for step := range 150 {
		b := &branches[r.IntN(len(branches))]
		id := ID{1, 2, uint64(step)}
		if len(ids) > 0 {
			id = ids[max(0, len(ids)-1-r.IntN(6))]
		}
		what := ""
		switch k := r.IntN(20); {
		case k < 3:
			id = ID{1, 2, uint64(step)}
			ids = append(ids, id)
			require.Equal(t, Answer{}, b.table.Apply(id, AppendOpen(nil), nil, nil))
			b.naive.open(limits, id)
			what = "open"
		case k == 3:
			b.table.Apply(ID{}, AppendClose(nil, id), nil, nil)
			delete(b.naive.sessions, id)
			closed[id] = true
			what = "close"
		case k == 4 && len(branches) < 4:
			table, err := Parse(limits, b.table.Append(nil))
			require.NoError(t, err)
			branches = append(branches, twin{table, b.naive.copy(), maps.Clone(b.applied)})
			what = "part"
		case k == 5:
			r.Shuffle(len(branches), func(i, j int) { branches[i], branches[j] = branches[j], branches[i] })
			var tables []*Table
			var naives []*naive
			applied := map[number]bool{}
			n := 1 + r.IntN(len(branches))
			for _, b := range branches[:n] {
				tables, naives = append(tables, b.table), append(naives, b.naive)
				maps.Copy(applied, b.applied)
			}
			branches = append(branches[n:], twin{Merge(limits, tables), mergeNaive(limits, naives), applied})
			b = &branches[len(branches)-1]
			what = fmt.Sprint("merge of ", n)
		default:
			what = b.use(t, r, limits, id, closed[id], met)
		}
		var have []ID
		for _, s := range b.table.sessions {
			have = append(have, s.id)
		}
		require.ElementsMatch(t, b.naive.ids(), have, "seed %d, step %d: %s", seed, step, what)
	}
}

// use uses a session with a new number or an old one. An operation that was applied is
// never applied again, whatever the limits have let go of since.
func (b *twin) use(t testing.TB, r *rand.Rand, limits Limits, id ID, closed bool, met map[string]int) string {
	n, command := uint64(r.IntN(8)), fmt.Sprint("c", r.IntN(8)/7)
	if s := b.naive.sessions[id]; s != nil && r.IntN(2) == 0 {
		n = s.last + 1
	}
	result, fresh := strings.Repeat("r", r.IntN(12)), false
	got := b.table.Apply(ID{}, AppendUse(nil, id, n, []byte(command)), func([]byte) any {
		fresh = true
		return result
	}, Sum)
	what := fmt.Sprintf("use %v of %v", n, id)
	require.Equal(t, b.naive.use(limits, id, n, command, result), got, what)
	had := b.applied[number{id, n}]
	require.False(t, had && fresh && !closed, "%s: applied twice", what)
	require.False(t, got.(Answer).Repeated && !had, "%s: not applied before", what)
	b.applied[number{id, n}] = had || fresh
	met[fmt.Sprint(got.(Answer).Repeated, got.(Answer).Err)]++
	return what
}

func likeNaive(t testing.TB) {
	met := map[string]int{}
	for seed := range uint64(400) {
		naiveLife(t, seed, met)
	}
	for _, err := range []error{nil, ErrExpired, ErrTooOld, ErrReused} {
		require.Positive(t, met[fmt.Sprint(false, err)], "%v", err)
	}
	require.Positive(t, met[fmt.Sprint(true, nil)])
	require.Positive(t, met[fmt.Sprint(true, ErrResultGone)])
}

// No operation of a session is applied twice in a state or in those that it was merged from,
// and tables forget neither more nor less than the limits say.
func TestTablesDoAsNaiveOnes(t *testing.T) { likeNaive(t) }
