package figure

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware/internal/svg"
)

// The text of a figure.
var (
	titleFont  = svg.Font{Size: 17, Bold: true}
	panelFont  = svg.Font{Size: 13, Bold: true}
	labelFont  = svg.Font{Size: 12}
	tickFont   = svg.Font{Size: 11}
	legendFont = svg.Font{Size: 12}
	noteFont   = svg.Font{Size: 11}
)

// scheme is the colours of a colour scheme.
type scheme struct {
	paper, ink, faint, grid, axis string
	palette                       [8]string
}

// Colours of a palette differ in lightness as well as in hue.
var (
	light = scheme{"#FFFFFF", "#1D2530", "#5A6472", "#E6E9ED", "#8A929D",
		[8]string{"#1B5FAF", "#D96F00", "#0E8A6E", "#9440A8", "#C0263E", "#3B9BD3", "#857317", "#3A4250"}}
	dark = scheme{"#12161C", "#E8ECF1", "#A3ADBA", "#2A313A", "#6C7683",
		[8]string{"#6FA8EC", "#F5A13C", "#3FC6A2", "#CC8EDD", "#F4788A", "#8AD0F5", "#CFBF55", "#C6CDD6"}}
)

// css is the style sheet of figures.
var css = "\n" + light.rules() + "@media (prefers-color-scheme: dark) {\n" + dark.rules() + "}\n"

// rules returns the style rules of a scheme.
func (s *scheme) rules() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".paper{fill:%s}.ink{fill:%s}.faint{fill:%s}.grid{stroke:%s}.axis{stroke:%s}\n",
		s.paper, s.ink, s.faint, s.grid, s.axis)
	for i, c := range s.palette {
		fmt.Fprintf(&b, ".line%d{stroke:%s;fill:none}.fill%d{fill:%s}\n", i+1, c, i+1, c)
	}
	return b.String()
}

// colour returns the number of a palette's colour: the chosen one, or the one at
// a turn.
func colour(chosen, turn int) int {
	if chosen > 0 {
		turn = chosen - 1
	}
	return turn%len(light.palette) + 1
}
