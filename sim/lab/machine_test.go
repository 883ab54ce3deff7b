package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// Whatever a process of an algorithm hears, it speaks to the others only, keeps its
// deadlines, and claims nothing that has ended.
func TestMachinesSurviveAnything(t *testing.T) {
	const n = 4
	for _, a := range Algorithms() {
		if a.Own() {
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			r := HighestID(n)
			self := timed.NodeID(rapid.IntRange(1, n).Draw(t, "self"))
			m := a.Machine(self, r, PaceOf(timed.LAN()))
			now := timed.Instant(time.Hour)
			alive := r.Members
			check := func(out []Effect) {
				for _, e := range out {
					require.True(t, r.Members.Has(e.To) && e.To != self, "%s to %d", e.Message.Kind, e.To)
				}
				for range maxTurns {
					if m.Deadline() > now {
						break
					}
					for _, e := range m.HandleTimeout(now, alive, nil) {
						require.True(t, r.Members.Has(e.To) && e.To != self, "%s to %d", e.Message.Kind, e.To)
					}
				}
				require.Greater(t, m.Deadline(), now)
				c := m.Claim(now)
				require.True(t, !c.Leads || c.LeadUntil > now)
				require.True(t, c.Elected == 0 || c.Until > now && r.Members.Has(c.Elected))
				require.True(t, !c.Leads || c.Elected == self)
			}
			check(m.Start(now, alive, nil))
			for range rapid.IntRange(1, 40).Draw(t, "events") {
				now = now.Add(time.Duration(rapid.IntRange(0, int(60*time.Millisecond)).Draw(t, "later")))
				switch rapid.IntRange(0, 3).Draw(t, "what") {
				case 0:
					alive = timed.SetOf(self)
					for id := range r.Members.All() {
						if rapid.Bool().Draw(t, "alive") {
							alive.Add(id)
						}
					}
					check(m.HandleTimeout(now, alive, nil))
				case 1:
					check(m.Elect(now, alive, nil))
				default:
					from := timed.NodeID(rapid.IntRange(1, n).Filter(func(i int) bool { return timed.NodeID(i) != self }).Draw(t, "from"))
					x := anyMessage(t)
					if rapid.Bool().Draw(t, "sane") {
						x.Candidate, x.Group.Leader = from, from
						x.Start, x.Span = now, time.Duration(rapid.IntRange(1, int(80*time.Millisecond)).Draw(t, "span"))
					}
					check(m.HandleMessage(now, from, &x, alive, nil))
				}
			}
		})
	}
}

// A voter gives its vote to another process only after the earlier grant is over.
func TestVotersKeepTheirWord(t *testing.T) {
	for _, name := range []string{"majority", "nerio-drift", "nerio-skew"} {
		a, err := FindAlgorithms(name)
		require.NoError(t, err)
		rapid.Check(t, func(t *rapid.T) {
			m := a[0].Machine(1, HighestID(3), PaceOf(timed.LAN()))
			now := timed.Instant(time.Hour)
			m.Start(now, timed.SetOf(1), nil)
			var to timed.NodeID
			var until timed.Instant
			for range rapid.IntRange(1, 60).Draw(t, "events") {
				now = now.Add(time.Duration(rapid.IntRange(0, int(50*time.Millisecond)).Draw(t, "later")))
				kind := rapid.SampledFrom([]Kind{VoteRequest, GrantRequest}).Draw(t, "kind")
				span := time.Duration(rapid.IntRange(1, int(80*time.Millisecond)).Draw(t, "span"))
				from := timed.NodeID(rapid.IntRange(2, 3).Draw(t, "from"))
				out := m.HandleMessage(now, from, &Message{Kind: kind, Start: now, Span: span}, timed.SetOf(2, 3), nil)
				granted := len(out) > 0 && (out[0].Message.Kind == VoteGranted || out[0].Message.Kind == GrantOK)
				if now < until && to != from {
					require.False(t, granted, "it is bound to %d", to)
				}
				if granted {
					require.GreaterOrEqual(t, now, timed.Instant(time.Hour).Add(80*time.Millisecond), "a vote of a former life may bind")
					require.GreaterOrEqual(t, m.Claim(now).Until, now.Add(span))
				}
				if c := m.Claim(now); c.Elected != 0 {
					to, until = c.Elected, c.Until
				}
			}
		})
	}
}
