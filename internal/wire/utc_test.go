package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
)

var (
	drawLow  = rapid.Int64Range(1-maxShown, maxShown-1-2*int64(clocksync.MaxError))
	drawWide = rapid.Int64Range(0, 2*int64(clocksync.MaxError))
	drawLeap = rapid.Uint8Range(0, uint8(clocksync.LeapDelete))
)

func drawUTC(t *rapid.T) clocksync.UTC {
	u := clocksync.UTC{State: clocksync.UTCState(rapid.Uint8Range(0, 2).Draw(t, "state"))}
	if u.State == clocksync.UTCKnown {
		u.At, u.Low = drawInstant.Draw(t, "at"), clocksync.Time(drawLow.Draw(t, "low"))
		u.High, u.Leap = u.Low+clocksync.Time(drawWide.Draw(t, "wide")), clocksync.Leap(drawLeap.Draw(t, "leap"))
	}
	least := uint8(0)
	switch u.State {
	case clocksync.UTCDisputed:
		return u
	case clocksync.UTCUnknown:
		least = 1
	}
	if u.Proved = rapid.Uint8Range(least, clocksync.MaxReferences).Draw(t, "proved"); u.Proved > 0 {
		u.ProofAge = time.Duration(rapid.Uint64Range(0, maxProofAge).Draw(t, "proof age")) * time.Second
	}
	return u
}

func drawSample(t *rapid.T) clocksync.Sample {
	s := clocksync.Sample{Source: clocksync.SourceID(rapid.Uint64Min(1).Draw(t, "source")),
		At: drawInstant.Draw(t, "at"), Low: clocksync.Time(drawLow.Draw(t, "low"))}
	s.High, s.Leap = s.Low+clocksync.Time(drawWide.Draw(t, "wide")), clocksync.Leap(drawLeap.Draw(t, "leap"))
	return s
}

// fillUTC adds the largest frames about UTC.
func fillUTC(p *Packet) {
	p.Line.Bend, p.Line.Next = datagram.MaxStamp, -clocksync.MaxSlewLimit
	p.UTC = clocksync.UTC{State: clocksync.UTCKnown, At: datagram.MaxStamp, Low: 1 - maxShown, High: maxShown - 1,
		Proved: clocksync.MaxReferences, ProofAge: clocksync.ProofLife}
	p.Samples.Count = clocksync.MaxForwarded
	for i := range p.Samples.List {
		p.Samples.List[i] = clocksync.Sample{Source: 1<<64 - 1, At: datagram.MaxStamp,
			Low: 1 - maxShown, High: 1 - maxShown + 2*clocksync.Time(clocksync.MaxError)}
	}
}

func TestHostileSamplesAreRefused(t *testing.T) {
	const at, low = 7, uint64(1_790_000_000_000_000_000)
	sample := []any{1, at, low, 5, 0}
	two := append(append([]any{}, sample...), sample...)
	for name, c := range map[string]struct {
		kind byte
		msg  []byte
		err  error
	}{
		"no sample":            {typeSamples, message(t), ErrLength},
		"half a sample":        {typeSamples, message(t, two[:7]...), ErrLength},
		"too many":             {typeSamples, message(t, append(two, sample...)...), ErrLength},
		"no node's":            {typeSamples, message(t, 0, at, low, 5, 0), ErrRange},
		"as wide as nothing":   {typeSamples, message(t, 1, at, low, 3*int64(clocksync.MaxError), 0), ErrRange},
		"leap of another kind": {typeSamples, message(t, 1, at, low, 5, 3), ErrRange},
		"UTC not known":        {typeUTC, message(t, 0), ErrLength},
		"known to nobody":      {typeUTC, message(t, 0, 0, 0), ErrRange},
		"known and bare":       {typeUTC, message(t, 1), ErrLength},
		"disputed, with more":  {typeUTC, message(t, 2, at, low, low, 0), ErrLength},
		"as version 5":         {typeUTC, message(t, 1, at, low, low, 0), ErrLength},
		"end before beginning": {typeUTC, message(t, 1, at, low, low-1, 0, 0, 0), ErrRange},
		"too many have proved": {typeUTC, message(t, 1, at, low, low, 0, clocksync.MaxReferences+1, 0), ErrRange},
		"proved too long ago":  {typeUTC, message(t, 1, at, low, low, 0, 1, maxProofAge+1), ErrRange},
		"a proof by nobody":    {typeUTC, message(t, 1, at, low, low, 0, 0, 1), ErrRange},
	} {
		var d Decoder
		p := replyPacket()
		err := d.Decode(framed(t, c.kind, c.msg), &p)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, Packet{}, p, name)
	}
}
