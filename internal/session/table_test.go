package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

var small = Limits{Sessions: 3, Window: 4, Bytes: 32}

// log is an application whose results are its length.
type log struct {
	*Table
	list []string
	ops  uint64
}

func newLog(l Limits) *log { return &log{Table: NewTable(l)} }

// do applies an operation to the sessions and the application.
func (l *log) do(operation []byte) any {
	l.ops++
	return l.Apply(ID{1, 2, l.ops}, operation, l.apply, Sum)
}

func (l *log) apply(command []byte) any {
	l.list = append(l.list, string(command))
	return len(l.list)
}

func (l *log) open() ID {
	l.do(AppendOpen(nil))
	return ID{1, 2, l.ops}
}

func (l *log) use(id ID, number uint64, command string) Answer {
	return l.do(AppendUse(nil, id, number, []byte(command))).(Answer)
}

func appliesOnce(t testing.TB) {
	l := newLog(small)
	id := l.open()
	require.Equal(t, Answer{Result: 1}, l.use(id, 1, "a"))
	require.Equal(t, 2, l.do(AppendPlain(nil, []byte("plain"))))
	require.Equal(t, Answer{Result: 1, Repeated: true}, l.use(id, 1, "a"))
	require.Equal(t, Answer{Result: 3}, l.use(l.open(), 1, "a"), "another session")
	require.Equal(t, Answer{Result: 4}, l.use(id, 2, "b"))
	require.Equal(t, []string{"a", "plain", "a", "b"}, l.list)
}

// overtaken has operations of one session come in another order than their numbers.
func overtaken(t testing.TB) {
	l := newLog(small)
	id := l.open()
	require.Equal(t, Answer{Result: 1}, l.use(id, 3, "c"))
	require.Equal(t, Answer{Result: 2}, l.use(id, 1, "a"))
	require.Equal(t, Answer{Result: 3}, l.use(id, 2, "b"))
	require.Equal(t, Answer{Result: 2, Repeated: true}, l.use(id, 1, "a"))
}

func windowIsBounded(t testing.TB) {
	l := newLog(small)
	id := l.open()
	for n := uint64(1); n <= 20; n++ {
		require.Equal(t, Answer{Result: int(n)}, l.use(id, n, "x"))
		require.LessOrEqual(t, len(l.find(id).kept), small.Window)
	}
	for n := range uint64(20) {
		a := l.use(id, n, "x")
		require.Equal(t, n <= 16, a.Err == ErrTooOld, "%d", n)
		require.Equal(t, n > 16, a.Repeated, "%d", n)
	}
	require.Len(t, l.list, 20)
}

func resultsAreBounded(t testing.TB) {
	l := newLog(small)
	id := l.open()
	for n := uint64(1); n <= 4; n++ {
		l.do(nil)
		op := AppendUse(nil, id, n, []byte("x"))
		l.Apply(ID{}, op, func([]byte) any { return fmt.Sprintf("%010d", n) }, Sum)
	}
	for n, want := range map[uint64]error{1: ErrResultGone, 2: ErrResultGone, 3: nil, 4: nil} {
		a := l.use(id, n, "x")
		require.Equal(t, want, a.Err, "%d", n)
		require.True(t, a.Repeated)
	}
	require.Empty(t, l.list, "none of them is applied again")
}

func anotherCommandIsRefused(t testing.TB) {
	l := newLog(small)
	id := l.open()
	l.use(id, 1, "a")
	require.Equal(t, Answer{Err: ErrReused}, l.use(id, 1, "b"))
	length := func(b []byte) uint64 { return uint64(len(b)) }
	require.Equal(t, Answer{Result: 2}, l.Apply(ID{}, AppendUse(nil, id, 2, []byte("b at 3")), l.apply, length))
	require.Equal(t, Answer{Result: 2, Repeated: true}, l.Apply(ID{}, AppendUse(nil, id, 2, []byte("b at 4")), l.apply, length), "an attempt has its own time")
	require.Equal(t, []string{"a", "b at 3"}, l.list)
}

// expire opens more sessions than there may be.
func expire(t testing.TB) {
	l := newLog(small)
	var ids []ID
	for range small.Sessions {
		ids = append(ids, l.open())
	}
	l.use(ids[0], 1, "a")
	l.open()
	require.Equal(t, small.Sessions, l.Len())
	require.Equal(t, Answer{Err: ErrExpired}, l.use(ids[1], 1, "b"), "it was used the longest ago")
	require.True(t, l.use(ids[0], 1, "a").Repeated)
	l.do(AppendClose(nil, ids[0]))
	require.Equal(t, Answer{Err: ErrExpired}, l.use(ids[0], 1, "a"))
	require.Equal(t, []string{"a"}, l.list)
}

// branch returns a copy of a log. It has nothing of the bytes that it was read from.
func (l *log) branch(t testing.TB) *log {
	b := l.Append(nil)
	table, err := Parse(l.limits, b)
	require.NoError(t, err)
	clear(b)
	return &log{table, append([]string{}, l.list...), l.ops}
}

func mergeRemembersAll(t testing.TB) {
	l := newLog(small)
	id := l.open()
	l.use(id, 1, "a")
	left, right := l.branch(t), l.branch(t)
	left.ops, right.ops = 100, 200
	left.use(id, 2, "b")
	right.use(id, 3, "c")
	own := right.open()
	right.use(own, 1, "d")
	for _, order := range [][]*Table{{left.Table, right.Table}, {right.Table, left.Table}} {
		m := &log{Table: Merge(small, order), list: []string{"a", "b", "c", "d"}, ops: 300}
		for n, command := range map[uint64]string{1: "a", 2: "b", 3: "c"} {
			require.True(t, m.use(id, n, command).Repeated)
		}
		require.True(t, m.use(own, 1, "d").Repeated)
		require.Equal(t, Answer{Result: 5}, m.use(id, 4, "e"))
	}
}

// expiredStays merges a branch in which a session has expired, after an operation of it,
// with one that still has it.
func expiredStays(t testing.TB) {
	l := newLog(small)
	id := l.open()
	left, right := l.branch(t), l.branch(t)
	left.ops, right.ops = 100, 200
	left.use(id, 1, "a")
	for range small.Sessions {
		left.open()
	}
	for len(left.sessions) > 0 {
		left.do(AppendClose(nil, left.sessions[0].id)) // there is room again
	}
	right.use(id, 2, "b")
	m := &log{Table: Merge(small, []*Table{left.Table, right.Table}), list: []string{"a", "b"}}
	require.Equal(t, Answer{Err: ErrExpired}, m.use(id, 1, "a"))
	require.Equal(t, Answer{Err: ErrExpired}, m.use(id, 2, "b"))
}

func TestWhatHasExpiredInABranchStaysSo(t *testing.T)  { expiredStays(t) }
func TestANumberIsAppliedOnce(t *testing.T)            { appliesOnce(t) }
func TestOvertakenOperationsAreApplied(t *testing.T)   { overtaken(t) }
func TestTheWindowOfASessionIsBounded(t *testing.T)    { windowIsBounded(t) }
func TestTheResultsOfASessionAreBounded(t *testing.T)  { resultsAreBounded(t) }
func TestAnotherCommandIsRefused(t *testing.T)         { anotherCommandIsRefused(t) }
func TestTheSessionUsedTheLongestAgoEnds(t *testing.T) { expire(t) }
func TestAMergeRemembersAllBranches(t *testing.T)      { mergeRemembersAll(t) }

// encoded is a result with an encoding of its own.
type encoded struct{ err error }

func (e encoded) MarshalBinary() ([]byte, error) { return []byte("encoded"), e.err }

func TestResultsComeBackAsTheyWere(t *testing.T) {
	for _, x := range []any{nil, true, false, 7, -7, int64(-8), uint64(9), "", "text", []byte{}, []byte("bytes")} {
		b := encodeResult(x, 32)
		require.NotEmpty(t, b, "%v", x)
		got, ok := decodeResult(b)
		require.True(t, ok)
		require.Equal(t, x, got)
	}
	got, _ := decodeResult(encodeResult(encoded{nil}, 32))
	require.Equal(t, []byte("encoded"), got)
	require.Empty(t, encodeResult(encoded{errTable}, 32))
	require.Empty(t, encodeResult(encoded{nil}, 7))
	require.Empty(t, encodeResult(struct{}{}, 32))
	require.Empty(t, encodeResult("a string that is larger than thirty-two bytes", 32))
	most := strings.Repeat("x", 31) // one byte more says what it is
	require.Len(t, encodeResult(most, 32), 32)
	require.Empty(t, encodeResult(most+"x", 32))
	require.Len(t, encodeResult([]byte(most), 32), 32)
	require.Empty(t, encodeResult([]byte(most+"x"), 32))
}

// Bytes that are no operation have a result that says so, and change nothing.
// A member of 32 bits may get a table with an int that it has no room for: to it, that result is not
// kept, rather than another one.
func TestAnIntThatIsTooLargeIsNotAnotherOne(t *testing.T) {
	table := NewTable(Limits{Sessions: 1, Window: 1, Bytes: 32})
	id := ID{Node: 1, Boot: 1, Sequence: 1}
	table.open(id)
	for _, n := range []int64{-1, math.MinInt32, math.MaxInt32, math.MinInt32 - 1, math.MaxInt32 + 1} {
		s := table.find(id)
		s.last++
		s.kept = []kept{{s.last, 7, binary.BigEndian.AppendUint64([]byte{resultInt}, uint64(n))}}
		want := Answer{Repeated: true, Result: int(n)}
		if int64(int(n)) != n {
			want = Answer{Repeated: true, Err: ErrResultGone}
		}
		require.Equal(t, want, table.use(&op{id: id, number: s.last}, 7, nil))
	}
}

func TestBytesThatAreNoOperationAreRefused(t *testing.T) {
	l := newLog(small)
	before := l.Table.Append(nil)
	for _, b := range [][]byte{nil, {}, {99}, AppendUse(nil, ID{1, 2, 3}, 1, nil)[:5]} {
		require.Equal(t, Answer{Err: ErrUnknown}, l.do(b), "%v", b)
	}
	require.Empty(t, l.list)
	require.Equal(t, before, l.Table.Append(nil))
}

// A table shares no memory with its callers: those that change a result, or the bytes of an
// operation, after the table has had them, change no other member's state.
func sharesNothing(t testing.TB) {
	scribble := func(b []byte) {
		for i := range b {
			b[i]++
		}
	}
	for _, kept := range []any{[]byte("bytes"), encoded{nil}, "text"} {
		table := NewTable(small)
		table.Apply(ID{Sequence: 1}, AppendOpen(nil), nil, nil)
		for _, again := range []bool{false, true, true} {
			op := AppendUse(nil, ID{Sequence: 1}, 1, []byte("command"))
			a := table.Apply(ID{Sequence: 2}, op, func([]byte) any { return kept }, Sum).(Answer)
			require.NoError(t, a.Err)
			require.Equal(t, again, a.Repeated)
			before := table.Append(nil)
			if b, ok := a.Result.([]byte); ok {
				scribble(b)
			}
			scribble(op)
			scribble(table.Append(nil))
			require.Equal(t, before, table.Append(nil), "%v", kept)
		}
	}
}

func TestATableSharesNoMemory(t *testing.T) { sharesNothing(t) }

func TestTablesAreReadAsTheyWereWritten(t *testing.T) { readAsWritten(t) }

// Tables of members that apply the same operations are equal, also of one that begins with
// an encoding.
func readAsWritten(t testing.TB) {
	r := rand.New(rand.NewPCG(1, 2))
	l := newLog(small)
	require.Empty(t, l.Append(nil))
	other := l.branch(t)
	ids := []ID{{}}
	for range 500 {
		op := AppendUse(nil, ids[r.IntN(len(ids))], r.Uint64N(6), []byte{byte(r.IntN(2))})
		switch r.IntN(10) {
		case 0:
			op = AppendOpen(nil)
			ids = append(ids, ID{1, 2, l.ops + 1})
		case 1:
			op = AppendClose(nil, ids[r.IntN(len(ids))])
		case 2:
			other = other.branch(t)
		case 3:
			op = op[:r.IntN(len(op))]
		}
		require.Equal(t, l.do(op), other.do(op))
		require.Equal(t, l.Append(nil), other.Append(nil))
	}
	require.Equal(t, l.list, other.list)
	b := l.Append(nil)
	require.NotEmpty(t, l.list)
	for n := 1; n < len(b); n++ {
		_, err := Parse(small, b[:n])
		require.ErrorIs(t, err, errTable)
	}
	_, err := Parse(small, append(b, 0))
	require.ErrorIs(t, err, errTable)
}

func FuzzParse(f *testing.F) {
	l := newLog(small)
	l.use(l.open(), 1, "a")
	f.Add(l.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := Parse(small, b)
		if err == nil {
			table.Apply(ID{Node: timed.NodeID(1)}, AppendOpen(nil), nil, nil)
		}
	})
}

// retriesAreUses has a caller repeat an operation, because it has no answer yet.
func retriesAreUses(t testing.TB) {
	l := newLog(small)
	a, b := l.open(), l.open()
	l.use(a, 1, "a")
	l.use(b, 1, "b")
	require.True(t, l.use(a, 1, "a").Repeated)
	for range small.Sessions - 1 {
		l.open()
	}
	require.True(t, l.use(a, 1, "a").Repeated, "it was used later than the other")
	require.Equal(t, ErrExpired, l.use(b, 1, "b").Err)
}

func TestARetryIsAUseOfItsSession(t *testing.T) { retriesAreUses(t) }

// countsOn merges a branch in which much has happened with one in which little has. A
// session that is opened then is newer than what has expired in either.
func countsOn(t testing.TB) {
	little, much := newLog(small), newLog(small)
	little.open()
	for range 2 * small.Sessions {
		much.open()
	}
	for _, branches := range [][]*Table{{little.Table, much.Table}, {much.Table, little.Table}} {
		l := &log{Table: Merge(small, branches), ops: 100}
		s := l.find(l.open())
		require.NotNil(t, s)
		require.Greater(t, s.opened, l.expired)
	}
}

func TestAMergedStateCountsOn(t *testing.T) { countsOn(t) }

// everyByteCounts changes one byte of commands of many lengths, or leaves the last one out. An
// attempt with such a command is another operation, and does not get the result of the first.
func everyByteCounts(t testing.TB) {
	for _, length := range []int{1, 8, 63, 64, 65, 255, 256, 1000, 70_000} {
		command := bytes.Repeat([]byte{'x'}, length)
		sum := Sum(command)
		require.NotEqual(t, sum, Sum(command[1:]), "%d bytes", length)
		for at := 0; at < length; at += 1 + length/100 {
			for _, i := range []int{at, length - 1 - at} {
				command[i]++
				require.NotEqual(t, sum, Sum(command), "byte %d of %d", i, length)
				command[i]--
			}
		}
	}
}

func TestCommandsDifferInAnyByte(t *testing.T) { everyByteCounts(t) }
