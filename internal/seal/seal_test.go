package seal

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const header = 82

func ring(t testing.TB, keys ...Key) *Ring {
	t.Helper()
	r, err := NewRing(keys...)
	require.NoError(t, err)
	return r
}

// packet returns a packet to be sealed: a header, room, and frames.
func packet(frames string) []byte {
	b := make([]byte, header+Head, 2000)
	for i := range header {
		b[i] = byte(i)
	}
	return append(b, frames...)
}

// The vectors of c2sp.org/XAES-256-GCM.
func TestXAESVectors(t *testing.T) {
	const nonce = "ABCDEFGHIJKLMNOPQRSTUVWX"
	for key, test := range map[byte][2]string{
		1: {"", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		3: {"c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		d := newDeriver([]byte(strings.Repeat(string(key), KeySize)))
		got := d.gcm((*[12]byte)([]byte(nonce[:12]))).Seal(nil, []byte(nonce[12:]), []byte("XAES-256-GCM"), []byte(test[0]))
		require.Equal(t, test[1], hex.EncodeToString(got))
	}
}

func TestSealedPacketsAreOpened(t *testing.T) { sealedPacketsAreOpened(t) }

func sealedPacketsAreOpened(t testing.TB) {
	a, b, c := NewKey(), NewKey(), NewKey()
	s, o := NewSealer(ring(t, b, a)), NewOpener(ring(t, a, b, c))
	require.Equal(t, b.ID(), s.KeyID())
	from := Origin{Source: 7, Boot: 99, Key: b.ID()}
	for _, counter := range []uint64{1, 2, 1<<32 - 1, 1 << 32, 1<<32 + 1} {
		sealed := s.Seal(packet("some frames"), header, []byte(" and a tail"), from.Boot, counter, 5)
		require.Len(t, sealed, header+len("some frames and a tail")+Overhead)
		require.NotContains(t, string(sealed), "frames")
		frames, others, err := o.Open(sealed, header, from, counter)
		require.NoError(t, err)
		require.Equal(t, "some frames and a tail", string(frames))
		require.Equal(t, [2]KeyID{a.ID(), 0}, others)
		require.Equal(t, counter > 1 && counter>>32 == 0 || counter == 1<<32+1, o.Knows(from, counter))
		o.Keep(0)
		require.True(t, o.Knows(from, counter))
	}
}

// Every bit of a packet, and its length, counts.
func TestChangedPacketsAreForged(t *testing.T) {
	k := NewKey()
	s, o := NewSealer(ring(t, k)), NewOpener(ring(t, k))
	from := Origin{Source: 7, Boot: 99, Key: k.ID()}
	sealed := s.Seal(packet("frames"), header, nil, from.Boot, 3, 4)
	for bit := range 8 * len(sealed) {
		sealed[bit/8] ^= 1 << (bit % 8)
		_, _, err := o.Open(sealed, header, from, 3)
		require.Equal(t, ErrForged, err, "bit %d", bit)
		sealed[bit/8] ^= 1 << (bit % 8)
	}
	for n := range sealed {
		_, _, err := o.Open(sealed[:n], header, from, 3)
		require.Error(t, err, "%d bytes", n)
	}
	for _, wrong := range []Origin{{7, 98, k.ID()}, {7, 99, k.ID() + 1}} {
		_, _, err := o.Open(sealed, header, wrong, 3)
		require.Error(t, err)
	}
	_, _, err := o.Open(sealed, header, from, 4)
	require.Equal(t, ErrForged, err)
	_, _, err = NewOpener(ring(t, NewKey())).Open(sealed, header, from, 3)
	require.Equal(t, ErrKey, err)
	_, _, err = o.Open(sealed, header, from, 3)
	require.NoError(t, err)
}

// Who has the key may seal anything. What has no room for the ids of keys is too short.
func TestSealedPacketsWithoutIDs(t *testing.T) {
	k := NewKey()
	s, o := NewSealer(ring(t, k)), NewOpener(ring(t, k))
	from := Origin{Source: 7, Boot: 99, Key: k.ID()}
	s.prepare(from.Boot, 3, 4)
	for room := range Head - saltSize {
		b := packet("")[:header+saltSize]
		copy(b[header:], s.nonce[4:])
		b = s.aead.Seal(b, s.nonce[:], make([]byte, room), b[:header])
		_, _, err := o.Open(b, header, from, 3)
		require.Equal(t, ErrShort, err)
	}
}

// Two machines with the same boot id and counter, as after a copy, do not repeat a nonce.
func TestSaltChangesEverything(t *testing.T) {
	k := NewKey()
	one := NewSealer(ring(t, k)).Seal(packet("frames"), header, nil, 1, 1, 1)
	two := NewSealer(ring(t, k)).Seal(packet("frames"), header, nil, 1, 1, 2)
	require.NotEqual(t, one[header+saltSize:], two[header+saltSize:])
}

// Junk puts no session out: only kept packets do, and the living incarnation stays.
func TestSessions(t *testing.T) { keepsTwoSessions(t) }

func keepsTwoSessions(t testing.TB) {
	k := NewKey()
	s, o := NewSealer(ring(t, k)), NewOpener(ring(t, k))
	at := func(boot uint64) Origin { return Origin{Source: 7, Boot: boot, Key: k.ID()} }
	open := func(boot uint64, keep bool) {
		_, _, err := o.Open(s.Seal(packet("x"), header, nil, boot, 1, 1), header, at(boot), 1)
		require.NoError(t, err)
		if keep {
			o.Keep(0)
		}
	}
	open(1, true)
	open(2, true)
	for boot := range uint64(100) {
		_, _, err := o.Open(make([]byte, 200), header, at(1000+boot), 1)
		require.Equal(t, ErrForged, err)
	}
	open(3, false)
	require.True(t, o.Knows(at(1), 1) && o.Knows(at(2), 1))
	open(1, true) // the living one
	open(3, true)
	open(3, true) // it takes no second place
	require.True(t, o.Knows(at(1), 1) && o.Knows(at(3), 1))
	require.False(t, o.Knows(at(2), 1))
}

// Packets of incarnations that are gone, which come again, do not put out the cipher of the one
// that is accepted.
func acceptedKeepsItsCipher(t testing.TB) {
	k := NewKey()
	s, o := NewSealer(ring(t, k)), NewOpener(ring(t, k))
	at := func(boot uint64) Origin { return Origin{Source: 7, Boot: boot, Key: k.ID()} }
	open := func(boot, accepted uint64) {
		_, _, err := o.Open(s.Seal(packet("x"), header, nil, boot, 1, 1), header, at(boot), 1)
		require.NoError(t, err)
		o.Keep(accepted)
	}
	open(1, 0)
	for boot := range uint64(10) {
		open(100+boot, 1)
		require.True(t, o.Knows(at(1), 1) && o.Knows(at(100+boot), 1), boot)
	}
	open(1, 1)
	open(200, 200) // a successor that was just accepted
	require.True(t, o.Knows(at(1), 1) && o.Knows(at(200), 1))
	open(201, 200)
	require.True(t, o.Knows(at(200), 1) && o.Knows(at(201), 1))
}

func TestTheAcceptedIncarnationKeepsItsCipher(t *testing.T) { acceptedKeepsItsCipher(t) }

// The last two sessions stay, whatever tells them apart: the incarnation, the key while keys are
// rotated, or the high half of the counter.
func TestTheLastTwoSessionsStay(t *testing.T) {
	a, b := NewKey(), NewKey()
	type sent struct {
		key           Key
		boot, counter uint64
	}
	for _, two := range [][2]sent{{{a, 1, 1}, {a, 2, 1}}, {{a, 1, 1}, {b, 1, 2}}, {{a, 1, 1}, {a, 1, 1 << 32}}} {
		o := NewOpener(ring(t, a, b))
		at := func(x sent) Origin { return Origin{Source: 7, Boot: x.boot, Key: x.key.ID()} }
		for _, x := range two {
			_, _, err := o.Open(NewSealer(ring(t, x.key)).Seal(packet("x"), header, nil, x.boot, x.counter, 1), header, at(x), x.counter)
			require.NoError(t, err)
			o.Keep(0)
		}
		for _, x := range two {
			require.True(t, o.Knows(at(x), x.counter))
		}
	}
}

func TestKeysHideThemselves(t *testing.T) { keysHide(t) }

func keysHide(t testing.TB) {
	k := NewKey()
	text := k.Text()
	back, err := parseKey(text)
	require.NoError(t, err)
	require.Equal(t, k, back)
	secret := strings.TrimPrefix(text, mark)
	for _, shown := range []string{fmt.Sprint(k), fmt.Sprintf("%+v", k), fmt.Sprintf("%#v", k), fmt.Sprintf("%x", k)} {
		require.NotContains(t, shown, secret)
		require.NotContains(t, shown, hex.EncodeToString(k.secret[:]))
	}
	require.Equal(t, k.String(), fmt.Sprintf("%#v", k), "and not its bytes")
	id, err := ParseKeyID(k.ID().String())
	require.NoError(t, err)
	require.Equal(t, k.ID(), id)
	for _, wrong := range []string{"", "00000000", "1234567", "123456789", "xxxxxxxx", "+1234567"} {
		_, err := ParseKeyID(wrong)
		require.Error(t, err, wrong)
	}
}

func TestRotation(t *testing.T) {
	a, b, c, d := NewKey(), NewKey(), NewKey(), NewKey()
	r := ring(t, a)
	r, err := r.Install(b)
	require.NoError(t, err)
	r, err = r.Use(b.ID())
	require.NoError(t, err)
	for range 2 { // a command that is given again changes nothing
		require.Equal(t, []KeyID{b.ID(), a.ID()}, r.IDs())
		r, err = r.Use(b.ID())
		require.NoError(t, err)
	}
	_, err = r.Remove(b.ID())
	require.ErrorContains(t, err, "seals: use another one first")
	_, err = r.Remove(c.ID())
	require.ErrorContains(t, err, "there is no key")
	_, err = r.Use(c.ID())
	require.ErrorContains(t, err, "install it first")
	_, err = r.Install(a)
	require.ErrorContains(t, err, "twice")
	r, err = r.Install(c)
	require.NoError(t, err)
	_, err = r.Install(d)
	require.ErrorContains(t, err, "4 keys are more than 3")
	r, err = r.Remove(a.ID())
	require.NoError(t, err)
	require.Equal(t, []KeyID{b.ID(), c.ID()}, r.IDs())
}

// Shared frames are sealed once, and each packet opens with them and no others.
func TestSharedFrames(t *testing.T) { sharedFrames(t) }

func sharedFrames(t testing.TB) {
	a, b := NewKey(), NewKey()
	s, o := NewSealer(ring(t, a, b)), NewOpener(ring(t, a))
	from := Origin{Source: 7, Boot: 99, Key: a.ID()}
	share := func(text string, counter uint64) Shared { return s.SealShared([]byte(text), from.Boot, counter, 5) }
	own := func(text string, x *Shared, counter uint64) []byte {
		p := append(make([]byte, header+SharedHead), text...)
		return append(s.SealSharing(p, header, x, from.Boot, counter, 5), x.Sealed...)
	}
	x, y := share("the shared frames", 10), share("the other frames!", 11)
	require.NotContains(t, string(x.Sealed), "shared")
	for counter := uint64(10); counter < 13; counter++ {
		p := own("own", &x, counter)
		require.Len(t, p, header+len("ownthe shared frames")+SharedOverhead)
		frames, others, err := o.OpenSharing(p, header, from, counter)
		require.NoError(t, err)
		require.Equal(t, "ownthe shared frames", string(frames))
		require.Equal(t, [2]KeyID{b.ID(), 0}, others)
		o.Keep(0)
	}
	p := own("own", &x, 20)
	for bit := range 8 * len(p) {
		p[bit/8] ^= 1 << (bit % 8)
		_, _, err := o.OpenSharing(p, header, from, 20)
		require.Error(t, err, "bit %d", bit)
		p[bit/8] ^= 1 << (bit % 8)
	}
	for n := range p {
		_, _, err := o.OpenSharing(p[:n], header, from, 20)
		require.Error(t, err, "%d bytes", n)
	}
	mixed := append(p[:len(p)-len(x.Sealed):len(p)-len(x.Sealed)], y.Sealed...)
	_, _, err := o.OpenSharing(mixed, header, from, 20)
	require.Equal(t, ErrForged, err, "the shared frames of another packet")
	z := share("frames of a copy!", 10) // of the same nonce
	copied := append(p[:len(p)-len(x.Sealed):len(p)-len(x.Sealed)], z.Sealed...)
	_, _, err = o.OpenSharing(copied, header, from, 20)
	require.Equal(t, ErrForged, err, "the shared frames of a copy of the machine")
	_, _, err = o.Open(p, header, from, 20)
	require.Equal(t, ErrForged, err)
	frames, _, err := o.OpenSharing(p, header, from, 20)
	require.NoError(t, err)
	require.Equal(t, "ownthe shared frames", string(frames))
}
