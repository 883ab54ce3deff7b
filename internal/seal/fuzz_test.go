package seal

import "testing"

// No packet makes an opener panic, and only sealed ones open.
func FuzzOpen(f *testing.F) {
	k := Key{secret: [KeySize]byte{1}}
	r, err := NewRing(k)
	if err != nil {
		f.Fatal(err)
	}
	from := Origin{Source: 7, Boot: 99, Key: k.ID()}
	f.Add(NewSealer(r).Seal(packet("frames"), header, nil, from.Boot, 3, 4)[header:])
	f.Fuzz(func(t *testing.T, body []byte) {
		b := append(packet("")[:header], body...)
		frames, _, err := NewOpener(r).Open(b, header, from, 3)
		if err == nil && string(frames) != "frames" {
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
