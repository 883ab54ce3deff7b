package main

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// says returns what a guard reads, and then what r has.
func says(r io.Reader, all ...guardMessage) io.Reader {
	var b []byte
	for _, t := range all {
		b = append(b, t.bytes()...)
	}
	return io.MultiReader(bytes.NewReader(b), r)
}

func TestAGuardKillsWhenLockIsGoneOrLate(t *testing.T) {
	clock := hwclock.Of(func() int64 { return int64(time.Hour) })
	kills := make(chan int, 10)
	var said bytes.Buffer
	kill := func(group int) { kills <- group }
	end := strings.NewReader("")
	past, future := guardMessage{messageKillAt, uint64(time.Hour)}, guardMessage{messageKillAt, uint64(2 * time.Hour)}

	require.NoError(t, runGuard(openInbox(says(end, future, guardMessage{messageGroup, 77})), &said, clock, kill))
	require.Equal(t, 77, <-kills, "lock is gone")
	require.Empty(t, kills)
	require.Zero(t, said.Len(), "there is nobody to tell")

	for _, before := range [][]guardMessage{nil, {future}, {past}} {
		require.NoError(t, runGuard(openInbox(says(end, before...)), &said, clock, kill))
		require.Empty(t, kills, "the command was never started")
	}
	for _, group := range []uint64{0, 1, 1 << 31, 1 << 63} {
		require.Error(t, runGuard(openInbox(says(end, future, guardMessage{messageGroup, group})), &said, clock, kill))
		require.Empty(t, kills, "every process, or this one's group")
	}

	for _, order := range [][]guardMessage{{past, {messageGroup, 78}}, {{messageGroup, 78}}, {future, {messageGroup, 78}, past}} {
		lives, lock := io.Pipe()
		done := make(chan error)
		go func() { done <- runGuard(openInbox(says(lives, order...)), &said, clock, kill) }()
		require.Equal(t, 78, <-kills, "the hold is over")
		require.NoError(t, lock.Close())
		require.Equal(t, 78, <-kills, "lock is gone")
		require.NoError(t, <-done)
		require.Equal(t, 1, said.Len(), "it was the end of a hold, and not of lock")
		said.Reset()
	}
}

// The byte that says that a guard kills is there before the command dies.
func guardsSayFirst(t testing.TB) {
	from, to, err := os.Pipe()
	require.NoError(t, err)
	lives, lock := io.Pipe()
	clock := hwclock.Of(func() int64 { return int64(time.Hour) })
	done := make(chan error, 1)
	go func() {
		done <- runGuard(openInbox(says(lives, guardMessage{messageKillAt, 1}, guardMessage{messageGroup, 79})), to, clock, func(int) { _ = to.Close() })
	}()
	said, err := io.ReadAll(from)
	require.NoError(t, err)
	require.Len(t, said, 1)
	require.NoError(t, lock.Close())
	require.NoError(t, <-done)
	require.NoError(t, from.Close())
}

func TestAGuardSaysFirstThatItKills(t *testing.T) { guardsSayFirst(t) }

// A guard that does not read makes lock neither wait nor lose a value that has room.
func TestWhatAGuardIsToldIsWrittenNowOrNever(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes wait there")
	}
	from, to, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = from.Close() }()
	_ = to.Fd() // makes it wait, as the start of a process does
	g := &guard{to: to}
	const more = 1 << 20 // than a pipe holds
	for i := range more / messageSize {
		g.until(timed.Instant(i))
	}
	require.NoError(t, to.Close())
	b, err := io.ReadAll(from)
	require.NoError(t, err)
	require.Zero(t, len(b)%messageSize, "all of a value or nothing")
	require.Greater(t, len(b), messageSize)
	for i := range len(b) / messageSize {
		require.Equal(t, guardMessage{messageKillAt, uint64(i)}.bytes(), b[i*messageSize:(i+1)*messageSize])
	}
}

// A hold of another lead is no renewal, however long it lasts: another node may have led in
// between, and the command must end.
func otherLeadsRenewNothing(t testing.TB) {
	for _, later := range []api.Hold{{Boot: "1", SinceNS: 20}, {Boot: "2", SinceNS: 10}} {
		from, to, err := os.Pipe()
		require.NoError(t, err)
		held := &api.Held{Hold: api.Hold{Boot: "1", SinceNS: 10}, Until: 100}
		w := &watch{l: &locking{clock: hwclock.Of(func() int64 { return 50 })}, child: &child{guard: &guard{to: to}}, held: held}
		w.take(renewal{held: &api.Held{Hold: held.Hold, Until: 200}})
		require.NoError(t, w.lost)
		require.EqualValues(t, 200, w.held.Until)
		w.take(renewal{held: &api.Held{Hold: later, Until: 300}})
		require.ErrorContains(t, w.lost, "lost the lead and leads again")
		require.EqualValues(t, 200, w.held.Until)
		require.NoError(t, to.Close())
		told, err := io.ReadAll(from)
		require.NoError(t, err)
		require.Len(t, told, messageSize, "the guard was told of one renewal")
		require.NoError(t, from.Close())
	}
}

func TestHoldsOfOtherLeadsRenewNothing(t *testing.T) { otherLeadsRenewNothing(t) }

// The guard kills before a hold ends, and after lock would: so that lock can say why.
func TestTheGuardKillsBetweenLockAndTheEnd(t *testing.T) {
	l := &locking{timing: lockTiming{margin: 10 * time.Millisecond}}
	end := timed.Instant(time.Second)
	require.Equal(t, end.Add(-5*time.Millisecond), l.deadline(&api.Held{Until: end}))
}

// What another build means by its arguments and messages is not known.
func buildsDiffer(t testing.TB) {
	require.NoError(t, sameBuild([]string{cli.Version(), "group"}, 2))
	for _, args := range [][]string{nil, {"group"}, {"", "group"}, {"other", "group"}, {cli.Version()}} {
		require.ErrorContains(t, sameBuild(args, 2), "restart the lock", args)
	}
}

func TestBuildsDiffer(t *testing.T) { buildsDiffer(t) }
