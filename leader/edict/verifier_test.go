package edict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fences offers edicts in random order to a verifier. Each edict that it obeys
// must be later than all that it obeyed before, and it must not refuse an edict
// that is known to be later.
func fences(t testing.TB) {
	rapid.Check(t, func(t *rapid.T) {
		all := history(t)
		var v Verifier
		latest := map[string]int{}
		for range 30 {
			i := rapid.IntRange(0, len(all)-1).Draw(t, "edict")
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
			held, known := latest[name]
			order := Order(After)
			if known {
				order = Compare(all[i], all[held])
			}
			verdict, err := v.Accept(name, &all[i], all[i].Digest)
			switch verdict {
			case Obey:
				require.NoError(t, err)
				require.True(t, !known || i > held, "obeyed %d after %d", i, held)
				latest[name] = i
			case Repeated:
				require.NoError(t, err)
				require.Equal(t, held, i)
			default:
				var refused *RefusedError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, order == Before, i < held && order != Incomparable)
				require.Equal(t, name, refused.Name)
				require.True(t, refused.Held.Equal(&all[held]) && refused.Offered.Equal(&all[i]))
				if order == Before {
					require.ErrorIs(t, err, ErrStale)
					require.NotErrorIs(t, err, ErrIncomparable)
				} else {
					require.ErrorIs(t, err, ErrIncomparable)
					require.NotErrorIs(t, err, ErrStale)
				}
			}
			require.Equal(t, order == After, verdict == Obey)
		}
		require.Len(t, v.Entries(), len(latest))
		for _, e := range v.Entries() {
			require.True(t, e.Edict.Equal(&all[latest[e.Name]]))
		}
	})
}

func TestVerifierRefusesStaleEdicts(t *testing.T) { fences(t) }

func payloads(t testing.TB) {
	var v Verifier
	e := sample(2)
	_, err := v.Accept("n", &e, Sum([]byte("y")))
	require.ErrorIs(t, err, ErrPayload)
	_, known := v.Latest("n")
	require.False(t, known, "a refusal changes nothing")
	verdict, err := v.Accept("n", &e, Sum([]byte("x")))
	require.NoError(t, err)
	require.Equal(t, Obey, verdict)
	_, err = v.Accept("n", &e, Sum([]byte("y")))
	require.ErrorIs(t, err, ErrPayload)
}

func TestVerifierChecksPayload(t *testing.T) { payloads(t) }

func TestVerifierLimits(t *testing.T) {
	var v Verifier
	e := sample(1)
	for _, name := range []string{"", strings.Repeat("x", MaxName+1)} {
		_, err := v.Accept(name, &e, e.Digest)
		require.ErrorIs(t, err, ErrName)
		require.ErrorIs(t, v.Remember(name, &e), ErrName)
	}
	_, err := v.Accept("n", &Edict{}, Digest{})
	require.ErrorIs(t, err, ErrMalformed)
	require.ErrorIs(t, v.Remember("n", &Edict{}), ErrMalformed)
	_, err = v.Accept("n", nil, Digest{})
	require.ErrorIs(t, err, ErrMalformed)
	require.ErrorIs(t, v.Remember("n", nil), ErrMalformed)
	longest := strings.Repeat("x", MaxName)
	require.NoError(t, v.Remember(longest, &e))
	v.Forget(longest)
	for i := range MaxNames {
		require.NoError(t, v.Remember(fmt.Sprint(i), &e))
	}
	_, err = v.Accept("one more", &e, e.Digest)
	require.ErrorIs(t, err, ErrName)
	verdict, err := v.Accept("17", &e, e.Digest)
	require.NoError(t, err)
	require.Equal(t, Repeated, verdict)
	v.Forget("17")
	v.Forget("17")
	verdict, err = v.Accept("one more", &e, e.Digest)
	require.NoError(t, err)
	require.Equal(t, Obey, verdict)
	older := sample(1)
	older.Counter = 1
	require.NoError(t, v.Remember("one more", &older))
	held, ok := v.Latest("one more")
	require.True(t, ok && held.Equal(&older))
}

func TestVerifierCopiesEdicts(t *testing.T) {
	var v Verifier
	e := sample(2)
	_, err := v.Accept("n", &e, e.Digest)
	require.NoError(t, err)
	good := e.Clone()
	e.Stamps[0].At = 1
	v.Entries()[0].Edict.Stamps[0].At = 2
	held, _ := v.Latest("n")
	require.True(t, held.Equal(&good))
}

// A verifier keeps its own copy of an edict: its caller may use the memory again.
func keepsCopies(t testing.TB) {
	first, second := sample(3), sample(3)
	for i := range second.Stamps {
		second.Stamps[i].At++
	}
	var v Verifier
	for _, e := range []Edict{first, second} {
		_, err := v.Accept("a", &e, e.Digest)
		require.NoError(t, err)
		require.NoError(t, v.Remember("b", &e))
	}
	want := second.Clone()
	second.Stamps[0].At = -1
	for _, name := range []string{"a", "b"} {
		got, ok := v.Latest(name)
		require.True(t, ok)
		require.True(t, want.Equal(&got), name)
	}
}

func TestAVerifierKeepsCopies(t *testing.T) { keepsCopies(t) }
