package clocksync

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A new sample of a reference is forwarded at once, however lately the one before was.
func TestNewSamplesAreForwardedAtOnce(t *testing.T) { forwardsTheNew(t) }

func forwardsTheNew(t testing.TB) {
	_, line := leader(t, 2, wall)
	c := New(utcConfig(1), start, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	to := timed.Incarnation{Node: 2, Boot: 2}
	for at := start; at < start.Add(forwardEvery); at = at.Add(forwardEvery / 2) {
		says(c, 1, at, 0, time.Millisecond, NoLeap)
		for range forwardTimes {
			require.NotEmpty(t, c.Forward(at, to, nil))
		}
		require.Empty(t, c.Forward(at, to, nil))
	}
	at := start.Add(forwardEvery / 2)
	require.NotEmpty(t, c.Forward(at, timed.Incarnation{Node: 2, Boot: 3}, nil), "it has heard nothing yet")
}

// What is forwarded is all that the reference said: without the leap second that it
// announces, the leader's UTC would be a second off.
func TestSamplesAreForwardedWhole(t *testing.T) { forwardsAll(t) }

func forwardsAll(t testing.TB) {
	_, line := leader(t, 2, wall)
	c := New(utcConfig(1), start, wall)
	c.HandleLine(start, &line, 0, 0, nil)
	said := Sample{Source: 7, At: start, Low: wall - 1, High: wall + Time(time.Millisecond), Leap: LeapInsert}
	c.HandleSample(start, &said, nil)
	out := c.Forward(start, timed.Incarnation{Node: 2, Boot: 2}, nil)
	require.Len(t, out, 1)
	require.Equal(t, []Sample{said}, out[0].Samples.Samples())
}

// A reference that another node has asked, and this one now asks as well, is this node's own:
// it forwards the samples when it follows again.
func TestAReferenceIsOfTheNodeThatAskedItLast(t *testing.T) { askedLast(t) }

func askedLast(t testing.TB) {
	c := utcLeader()
	f := Forwarded{Count: 1, List: [MaxForwarded]Sample{{Source: 7, At: start, Low: wall - 1, High: wall + 1}}}
	c.HandleForwarded(start, 2, &f, 0, 0, nil)
	require.EqualValues(t, 2, c.References(start)[0].Node)
	later := start.Add(time.Second)
	says(c, 7, later, 0, time.Millisecond, NoLeap)
	require.EqualValues(t, 1, c.References(later)[0].Node)
	_, line := leader(t, 2, wall)
	c.HandleLine(later, &line, 0, 0, nil)
	require.NotEmpty(t, c.Forward(later, timed.Incarnation{Node: 2, Boot: 2}, nil))
}

// A sample as wide as a sample can be gets wider until it is forwarded. The packet could not be
// sent, and with it a vote.
func TestWhatIsTooWideIsNotForwarded(t *testing.T) { tooWideStays(t) }

func tooWideStays(t testing.TB) {
	c := New(utcConfig(1), start, wall)
	to := timed.Incarnation{Node: 2, Boot: 2}
	for k := range SourceID(3) {
		s := Sample{Source: k + 1, At: start, Low: wall, High: wall + 2*Time(MaxError)}
		if k == 1 {
			s.High -= Time(time.Microsecond)
		}
		require.True(t, s.Valid())
		c.HandleSample(start.Add(time.Millisecond), &s, nil)
	}
	out := c.Forward(start.Add(time.Millisecond), to, nil)
	require.Len(t, out, 1)
	f := &out[0].Samples
	require.Len(t, f.Samples(), 1)
	require.True(t, f.List[0].Valid())
	require.EqualValues(t, 2, f.List[0].Source)
	require.Equal(t, Sample{}, f.List[1])
}
