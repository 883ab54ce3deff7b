package seal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// opensWhatItMay has processes with rings of their own, which change at any time, send each
// other packets, of any incarnation and with any counter. A packet opens if and only if the
// receiver has the key that sealed it.
func opensWhatItMay(t testing.TB) {
	keys := []Key{NewKey(), NewKey(), NewKey(), NewKey()}
	rapid.Check(t, func(t *rapid.T) {
		some := func(who string) *Ring {
			r, err := NewRing(rapid.Permutation(keys).Draw(t, who)[:rapid.IntRange(1, MaxKeys).Draw(t, "keys")]...)
			require.NoError(t, err)
			return r
		}
		from, to := some("sender"), some("receiver")
		s, o := NewSealer(from), NewOpener(to)
		for n := range uint64(rapid.IntRange(1, 30).Draw(t, "packets")) {
			switch rapid.IntRange(0, 5).Draw(t, "change") {
			case 0:
				from = some("sender")
				s = NewSealer(from)
			case 1:
				to = some("receiver")
				o = NewOpener(to)
			}
			boot := rapid.Uint64Range(1, 3).Draw(t, "boot")
			counter := rapid.SampledFrom([]uint64{1, 1<<32 - 1, 1 << 32, 1 << 33}).Draw(t, "counter")
			text := fmt.Sprint("packet ", n)
			origin := Origin{Source: 7, Boot: boot, Key: s.KeyID()}
			var frames []byte
			var others [MaxKeys - 1]KeyID
			var err error
			if rapid.Bool().Draw(t, "shared") {
				x := s.SealShared([]byte(text), boot, counter, n)
				b := s.SealSharing(append(make([]byte, header), make([]byte, SharedHead)...), header, &x, boot, counter, n)
				frames, others, err = o.OpenSharing(append(b, x.Sealed...), header, origin, counter)
			} else {
				frames, others, err = o.Open(s.Seal(packet(text), header, nil, boot, counter, n), header, origin, counter)
			}
			if to.find(s.KeyID()) < 0 {
				require.Equal(t, ErrKey, err)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, text, string(frames))
			for i, id := range from.IDs()[1:] {
				require.Equal(t, id, others[i])
			}
			if rapid.Bool().Draw(t, "kept") {
				o.Keep(0)
			}
		}
	})
}

func TestAPacketOpensWithItsKey(t *testing.T) { opensWhatItMay(t) }

// A ring that others are made of stays as it is.
func TestRingsStay(t *testing.T) {
	r, err := NewRing(NewKey(), NewKey(), NewKey())
	require.NoError(t, err)
	was := r.Format()
	for _, change := range []func(KeyID) (*Ring, error){r.Use, r.Remove} {
		other, err := change(r.IDs()[1])
		require.NoError(t, err)
		require.NotEqual(t, was, other.Format())
		require.Equal(t, was, r.Format())
	}
}
