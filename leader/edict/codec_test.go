package edict

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

var drawEdict = rapid.Custom(func(t *rapid.T) Edict {
	e := Edict{Epoch: rapid.Uint64().Draw(t, "epoch"), Counter: rapid.Uint64().Draw(t, "counter")}
	copy(e.Digest[:], rapid.SliceOfN(rapid.Byte(), len(e.Digest), len(e.Digest)).Draw(t, "digest"))
	for _, id := range rapid.SliceOfNDistinct(rapid.Uint8Min(1), 1, MaxStamps, rapid.ID).Draw(t, "voters") {
		e.Stamps = append(e.Stamps, Stamp{timed.NodeID(id), rapid.Uint64().Draw(t, "count"),
			timed.BootID(rapid.Uint64Min(1).Draw(t, "boot")), timed.Instant(rapid.Int64().Draw(t, "at"))})
	}
	slices.SortFunc(e.Stamps, func(s, t Stamp) int { return int(s.Node) - int(t.Node) })
	return e
})

func TestEncodingRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEdict.Draw(t, "edict")
		require.NoError(t, e.Validate())
		b := Append([]byte("before"), &e)[len("before"):]
		require.GreaterOrEqual(t, len(b), MinSize)
		require.LessOrEqual(t, len(b), MaxSize)
		d, err := Decode(b)
		require.NoError(t, err)
		require.True(t, e.Equal(&d))
		p, err := Parse(e.String())
		require.NoError(t, err)
		require.True(t, e.Equal(&p))
		c := e.Clone()
		require.True(t, e.Equal(&c))
		c.Stamps[0].At++
		require.False(t, e.Equal(&c))
		for i := range 3 {
			o := e
			o.Epoch, o.Counter = o.Epoch+uint64(i&1), o.Counter+uint64(i>>1)
			require.Equal(t, i == 0, e.Equal(&o))
		}
		d.Digest[0]++
		require.False(t, e.Equal(&d))
		require.Equal(t, len(e.Stamps), e.Voters().Len())
		require.True(t, e.Voters().Has(e.Stamps[0].Node))
		var j struct{ E *Edict }
		j.E = &e
		text, err := json.Marshal(j)
		require.NoError(t, err)
		j.E = nil
		require.NoError(t, json.Unmarshal(text, &j))
		require.True(t, e.Equal(j.E))
	})
}

func sample(voters int) Edict {
	e := Edict{Epoch: 3, Counter: 1000, Digest: Sum([]byte("x"))}
	for i := range voters {
		e.Stamps = append(e.Stamps, Stamp{timed.NodeID(i + 1), 17, math.MaxUint64, timed.Instant(30 * 24 * 3600 * 1e9)})
	}
	return e
}

// An edict inside of other values, as in requests of one's own, has the text form too.
func TestAnEdictByValueHasItsText(t *testing.T) {
	e := Edict{Epoch: 1, Counter: 2, Stamps: []Stamp{{Node: 3, Boot: 4, At: 5}}}
	require.Equal(t, e.String(), fmt.Sprint(e))
	type request struct {
		Edict Edict
		Body  string
	}
	b, err := json.Marshal(request{e, "x"})
	require.NoError(t, err)
	require.JSONEq(t, `{"Edict": "`+e.String()+`", "Body": "x"}`, string(b))
	var back request
	require.NoError(t, json.Unmarshal(b, &back))
	require.True(t, back.Edict.Equal(&e))
}

func TestDecodeDetectsDamage(t *testing.T) {
	e := sample(3)
	good := Append(nil, &e)
	for n := range good {
		_, err := Decode(good[:n])
		require.ErrorIs(t, err, ErrMalformed)
		for bit := range 8 {
			b := bytes.Clone(good)
			b[n] ^= 1 << bit
			_, err = Decode(b)
			require.ErrorIs(t, err, ErrMalformed)
		}
	}
	_, err := Decode(append(bytes.Clone(good), 0))
	require.ErrorIs(t, err, ErrMalformed)
	least := Edict{Stamps: []Stamp{{Node: 1, Boot: 1}}}
	require.Len(t, Append(nil, &least), MinSize)
	_, err = Decode(Append(nil, &least))
	require.NoError(t, err)
	_, err = Parse(strings.Repeat("A", MaxText+1))
	require.ErrorContains(t, err, "characters, more than")
	_, err = Parse("not base64")
	require.ErrorContains(t, err, "not base64url")
	_, err = Decode(make([]byte, MaxSize+1))
	require.ErrorContains(t, err, "more than")
	_, err = Decode(make([]byte, MaxSize))
	require.ErrorContains(t, err, "version 0")
	for _, s := range []string{"", "AQ==", e.String() + "=", e.String() + "\n", e.String()[:40] + "\r\n" + e.String()[40:], " " + e.String(),
		strings.ReplaceAll(e.String(), "_", "/"), strings.Repeat("A", MaxText+1)} {
		_, err := Parse(s)
		require.ErrorIs(t, err, ErrMalformed, s)
	}
}

// A correct checksum does not suffice.
func TestDecodeRefusesInvalidEdicts(t *testing.T) {
	sealed := func(b []byte) []byte {
		return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	}
	for name, change := range map[string]func(*Edict){
		"no stamps":     func(e *Edict) { e.Stamps = nil },
		"no node":       func(e *Edict) { e.Stamps[0].Node = 0 },
		"order":         func(e *Edict) { e.Stamps[1].Node = 9 },
		"twice":         func(e *Edict) { e.Stamps[1].Node = 1 },
		"no boot":       func(e *Edict) { e.Stamps[2].Boot = 0 },
		"256 or more":   func(e *Edict) { e.Stamps = make([]Stamp, 300) },
		"no room there": func(e *Edict) { e.Stamps = nil; e.Digest = Digest{} },
	} {
		e := sample(3)
		change(&e)
		require.Error(t, e.Validate(), name)
		_, err := e.MarshalText()
		require.Error(t, err, name)
		_, err = Decode(Append(nil, &e))
		require.ErrorIs(t, err, ErrMalformed, name)
	}
	e := sample(1)
	b := Append(nil, &e)
	b = b[:len(b)-sumSize]
	long := append([]byte{b[0], b[1] | 0x80, 0}, b[2:]...) // the epoch in two bytes
	_, err := Decode(sealed(long))
	require.ErrorContains(t, err, "shortest form")
	_, err = Decode(sealed(append(bytes.Clone(b), 0)))
	require.ErrorContains(t, err, "wrong length")
	many := bytes.Clone(b)
	many[1+1+2+len(e.Digest)] = 200
	_, err = Decode(sealed(many))
	require.ErrorContains(t, err, "truncated")
	at := 1 + 1 + 2 + len(e.Digest)
	_, err = Decode(sealed(slices.Concat(b[:at], binary.AppendUvarint(nil, 1<<62), b[at+1:])))
	require.ErrorContains(t, err, "truncated", "as many stamps as no memory holds")
}

func FuzzDecode(f *testing.F) {
	for _, n := range []int{1, 3} {
		e := sample(n)
		f.Add(Append(nil, &e)[:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		// The fuzzer cannot guess checksums.
		for _, b := range [][]byte{body, binary.BigEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))} {
			e, err := Decode(b)
			if err == nil && !bytes.Equal(Append(nil, &e), b) {
				t.Fatalf("%x decodes to %+v, which encodes differently", b, e)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	e := sample(2)
	f.Add(e.String())
	f.Fuzz(func(t *testing.T, s string) {
		if e, err := Parse(s); err == nil && e.String() != s {
			t.Fatalf("%q parses to %+v, which formats differently", s, e)
		}
	})
}

func TestDocumentedSizes(t *testing.T) {
	doc, err := os.ReadFile("../../docs/how-to/edicts.md")
	require.NoError(t, err)
	for _, n := range []int{1, 2, 3, 4, 8, 51, 128} {
		e := sample(n)
		row := fmt.Sprintf("| %d | %d | %d |\n", n, len(Append(nil, &e)), len(e.String()))
		require.True(t, strings.Contains(string(doc), row), row)
	}
}
