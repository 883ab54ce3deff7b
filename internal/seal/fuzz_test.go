package seal

import "testing"

// No packet makes an opener panic, and only sealed ones open.
func FuzzOpen(f *testing.F) {
	k := Key{secret: [KeySize]byte{1}}
	r, err := NewRing(k)
	if err != nil {
		f.Fatal(err)
	}
	from, s := Origin{Source: 7, Boot: 99, Key: k.ID()}, NewSealer(r)
	f.Add(s.Seal(packet("frames"), header, nil, from.Boot, 3, 4)[header:])
	x := s.SealShared([]byte("more"), from.Boot, 3, 4)
	own := append(make([]byte, header+SharedHead), "frames"...)
	f.Add(append(s.SealSharing(own, header, &x, from.Boot, 3, 4), x.Sealed...)[header:])
	f.Fuzz(func(t *testing.T, body []byte) {
		b := append(packet("")[:header], body...)
		if frames, _, err := NewOpener(r).Open(b, header, from, 3); err == nil && string(frames) != "frames" {
			t.Fatalf("forged: %q", frames)
		}
		clear(b[:header])
		if frames, _, err := NewOpener(r).OpenSharing(b, header, from, 3); err == nil && string(frames) != "framesmore" {
			t.Fatalf("forged: %q", frames)
		}
	})
}

// A key file that is read is written and read again as the same ring.
func FuzzParse(f *testing.F) {
	k := Key{secret: [KeySize]byte{1}}
	f.Add("# one\n" + k.Text() + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(r.Format())
		if err != nil || len(again.IDs()) != len(r.IDs()) || again.IDs()[0] != r.IDs()[0] {
			t.Fatalf("%v, %v", again, err)
		}
	})
}
