package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// closing is a connection whose end is looked at.
type closing struct {
	*fakeConn
	look func()
}

func (c *closing) Close() error {
	c.look()
	return nil
}

// Nobody hears of the end of a loop while an answer still says that the node leads, and who
// hears of the end of a phase finds the next one.
func endsAreHeardLast(t testing.TB) {
	looked := false
	var l *Loop
	l, c := newLoop(func(cfg *Config) {
		cfg.Conn = &closing{cfg.Conn.(*fakeConn), func() {
			looked = true
			require.False(t, l.Snapshot().Leading)
			select {
			case <-l.Done():
				require.Fail(t, "the loop has ended before its answers")
			default:
			}
		}}
	})
	for !l.Snapshot().Leading {
		step(l, c)
	}
	phase, heard := l.Snapshot().Phase, make(chan *Phase)
	go func() {
		<-phase.Over
		heard <- l.Snapshot().Phase
	}()
	l.driver.mu.Lock()
	l.driver.finish()
	require.True(t, looked)
	<-l.Done()
	require.NotSame(t, phase, <-heard)
}

func TestTheEndIsHeardLast(t *testing.T) { endsAreHeardLast(t) }

// A sample that was measured before the machine slept says nothing.
func samplesOfAnotherEra(t testing.TB) {
	l, c := newTestLoop(t)
	d := l.driver
	for _, era := range []uint32{d.clock.era + 1, d.clock.era} {
		require.Empty(t, d.stack.Clock().References(c.instant()))
		d.handleSample(&clocksync.Sample{Low: 1e18, High: 1e18 + 1000, At: d.clock.now, Source: 1}, era)
	}
	require.Len(t, d.stack.Clock().References(c.instant()), 1)
}

func TestSamplesOfAnotherEraSayNothing(t *testing.T) { samplesOfAnotherEra(t) }

// An incarnation that must end handles no more packets: what it would say rests on the
// mistake.
func takesNoMore(t testing.TB) {
	l, o := newOutside(nil)
	b := sealedPacket(t, l, nil, 1, nothing)
	d := l.driver
	d.life.Blame(life.Inconsistent)
	d.receive([]udp.Packet{{Buf: b, N: len(b), Addr: at(70), Received: o.instant()}})
	require.Equal(t, timed.Set{}, d.routes.known)
}

func TestAnIncarnationThatMustEndTakesNoMore(t *testing.T) { takesNoMore(t) }

// A longer lock time stays on the disk until the votes of the earlier process are over: the
// process may crash before, and the next one must wait for them too.
func longVotesStay(t testing.TB) {
	const earlier = 2 * time.Second
	dir := t.TempDir()
	state := stateOf(t, dir, earlier)
	l, c := newLoop(func(cfg *Config) { cfg.State = state })
	for !l.Snapshot().Ready {
		time.Sleep(50 * time.Millisecond) // another goroutine may write, and wait for the disk
		b, err := os.ReadFile(filepath.Join(dir, "node-1.state"))
		require.NoError(t, err)
		require.Contains(t, string(b), " maxlock 2000000000 ")
		step(l, c)
	}
}

// When they are over, the disk says so, and the next process need not wait as long.
func longVotesEnd(t testing.TB) {
	dir := t.TempDir()
	state := stateOf(t, dir, 2*time.Second)
	l, c := newLoop(func(cfg *Config) { cfg.State = state })
	untilReady(l, c)
	require.Eventually(t, func() bool { // another goroutine writes
		b, err := os.ReadFile(filepath.Join(dir, "node-1.state"))
		return err == nil && !strings.Contains(string(b), " maxlock 2000000000 ")
	}, time.Minute, time.Millisecond)
}

func TestLongVotesEndOnTheDisk(t *testing.T) { longVotesEnd(t) }

func TestLongVotesStayOnTheDisk(t *testing.T) { longVotesStay(t) }

// Packets that leave together have a salt of their own, so that a copy of the machine, which
// counts on from the same counter, seals with another one.
func saltsDiffer(t testing.TB) {
	ring := rings(t)["with keys"]
	l, _ := newOutside(ring)
	o := &l.driver.out
	o.draw()
	first := o.salt
	o.draw()
	require.NotEqual(t, first, o.salt)
}

func TestSaltsDiffer(t *testing.T) { saltsDiffer(t) }
