package diagram

import (
	"strings"
	"unicode"

	"github.com/failaware/failaware/internal/svg"
)

// The sizes of text, from the headline to notes in the lanes.
var (
	titleType    = svg.Font{Size: 18, Bold: true}
	subtitleType = svg.Font{Size: 12.5}
	nameType     = svg.Font{Size: 13.5, Bold: true}
	idType       = svg.Font{Size: 10.5}
	flagType     = svg.Font{Size: 11.5, Bold: true}
	faultType    = svg.Font{Size: 11.5, Bold: true}
	eventType    = svg.Font{Size: 11}
	leadType     = svg.Font{Size: 11, Bold: true}
	viewType     = svg.Font{Size: 10}
	messageType  = svg.Font{Size: 10}
	tickType     = svg.Font{Size: 11}
	legendType   = svg.Font{Size: 11}
	noteType     = svg.Font{Size: 11, Bold: true}
)

// clean makes any string fit for one line of text: no controls, no line
// breaks, no undue length.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	n := 0
	for i := range s {
		if n++; n > MaxLabel {
			return s[:i] + "…"
		}
	}
	return s
}
