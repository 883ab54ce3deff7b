package epoch

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

func proposal(epoch uint64, next string, stamps ...edict.Stamp) State {
	return State{Epoch: epoch, System: "majority 1,2,3", Phase: Noted, Next: next,
		Edict: edict.Edict{Epoch: epoch, Stamps: stamps, Digest: edict.Sum(Proposal(epoch, next))}}
}

var drawText = rapid.StringN(1, 40, MaxSystem)

// drawState draws states that a node can be in.
var drawState = rapid.Custom(func(t *rapid.T) State {
	epoch := rapid.Uint64Min(1).Draw(t, "epoch")
	s := State{Epoch: epoch, System: drawText.Draw(t, "system"), Phase: Phase(rapid.IntRange(0, 3).Draw(t, "phase"))}
	if s.Phase != Idle {
		s.Next = drawText.Draw(t, "next")
	}
	switch {
	case s.Phase == Noted:
		s.Edict = proposal(epoch, s.Next, edict.Stamp{Node: 1, Counter: rapid.Uint64().Draw(t, "counter"), Boot: 1, At: 5}).Edict
	case s.Phase >= Chosen:
		for _, id := range rapid.SliceOf(rapid.Uint8Min(1)).Draw(t, "dead") {
			s.Dead.Add(timed.NodeID(id))
		}
		s.Agreed = s.Dead.Empty() || rapid.Bool().Draw(t, "agreed")
	}
	return s
})

func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState.Draw(t, "state")
		b := Append([]byte("before"), &s)[len("before"):]
		d, err := Decode(b)
		require.NoError(t, err)
		require.Equal(t, s, d)
		for n := range b {
			_, err := Decode(b[:n])
			require.ErrorIs(t, err, ErrMalformed)
		}
		_, err = Decode(append(bytes.Clone(b), 0))
		require.ErrorIs(t, err, ErrMalformed)
	})
	none, err := Decode(Append(nil, &State{}))
	require.NoError(t, err)
	require.Equal(t, State{}, none)
}

func TestDecodeRefusesImpossibleStates(t *testing.T) {
	good := proposal(4, "majority 1,2", edict.Stamp{Node: 1, Counter: 1, Boot: 1})
	for name, change := range map[string]func(*State){
		"no epoch":         func(s *State) { s.Epoch = 0 },
		"no system":        func(s *State) { s.System = "" },
		"system of none":   func(s *State) { *s = State{System: "majority 1"} },
		"long system":      func(s *State) { s.System = strings.Repeat("x", MaxSystem+1) },
		"long successor":   func(s *State) { s.Next = strings.Repeat("x", MaxSystem+1) },
		"no successor":     func(s *State) { s.Next = "" },
		"idle":             func(s *State) { s.Phase = Idle },
		"no such phase":    func(s *State) { s.Phase = Wedged + 1 },
		"agreed":           func(s *State) { s.Agreed = true },
		"dead":             func(s *State) { s.Dead = timed.SetOf(1) },
		"wedged, why":      func(s *State) { s.Phase, s.Edict = Wedged, edict.Edict{} },
		"chosen, why":      func(s *State) { s.Phase, s.Edict = Chosen, edict.Edict{} },
		"other epoch":      func(s *State) { s.Edict.Epoch++ },
		"other successor":  func(s *State) { s.Next = "majority 1,3" },
		"edict, no stamps": func(s *State) { s.Edict.Stamps = nil },
	} {
		s := good
		change(&s)
		require.Error(t, s.check(), name)
		_, err := Decode(Append(nil, &s))
		require.ErrorIs(t, err, ErrMalformed, name)
	}
	longest := State{Epoch: 4, System: strings.Repeat("x", MaxSystem), Phase: Wedged, Next: strings.Repeat("y", MaxSystem), Agreed: true}
	require.NoError(t, longest.check())
	require.Equal(t, "failaware epoch 5: majority 1", string(Proposal(4, "majority 1")), "nodes of other versions compute the same")
	chosen := State{Epoch: 4, System: "x", Phase: Chosen, Next: "y", Agreed: true, Edict: good.Edict}
	require.Error(t, chosen.check(), "an edict in phase chosen")
	chosen.Edict, chosen.Dead = edict.Edict{}, timed.SetOf(2, 3)
	b := Append(nil, &chosen)
	b[len(b)-1] = 2
	_, err := Decode(b)
	require.ErrorContains(t, err, "out of order")
	b[len(b)-2], b[len(b)-1] = 0, 3
	_, err = Decode(b)
	require.ErrorContains(t, err, "out of order", "there is no node 0")
	b = Append(nil, &good)
	b[len(b)-2]++ // the last byte of the edict
	_, err = Decode(b)
	require.ErrorIs(t, err, ErrMalformed)
	b = Append(nil, &good)
	b[0]++
	_, err = Decode(b)
	require.ErrorContains(t, err, "version")
}

func FuzzDecode(f *testing.F) {
	noted := proposal(4, "majority 1,2", edict.Stamp{Node: 1, Counter: 1, Boot: 1})
	for _, s := range []State{{}, noted, {Epoch: 9, System: "x", Phase: Wedged, Next: "y", Agreed: true, Dead: timed.SetOf(1, 200)}} {
		f.Add(Append(nil, &s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := Decode(b); err == nil && !bytes.Equal(Append(nil, &s), b) {
			t.Fatalf("%x decodes to %+v, which encodes differently", b, s)
		}
	})
}
