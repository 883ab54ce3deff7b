package diagram

import (
	"image/color"
	"slices"
)

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// faded returns c with the given opacity.
func faded(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(opacity*255 + 0.5)
	return c
}

// toward mixes a share of the second colour into the first.
func toward(c, other color.NRGBA, share float64) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8(float64(a)*(1-share) + float64(b)*share + 0.5) }
	return color.NRGBA{R: mix(c.R, other.R), G: mix(c.G, other.G), B: mix(c.B, other.B), A: 255}
}

// Colours with one meaning each. Red is for violations alone.
var (
	white        = rgb(0xFFFFFF)
	inkDark      = rgb(0x1D2530)
	inkMid       = rgb(0x5A6472)
	inkFaint     = rgb(0xA9B1BC)
	gridLine     = rgb(0xE0E4E9)
	bandFill     = rgb(0xF3F5F7)
	bandEdge     = rgb(0xC3CAD3)
	downFill     = rgb(0xCDD2D9)
	fastInk      = rgb(0x4C5F7A)
	slowInk      = rgb(0xB35900)
	appInk       = rgb(0x3D2C8D)
	lostInk      = rgb(0x8A929D)
	lostCrossInk = rgb(0x545B66)
	violation    = rgb(0xD3001F)
)

// leaders are strong colours, for bars with text in them. Neighbours differ in
// lightness, for grey print and for the colour blind.
var leaders = [...]color.NRGBA{
	rgb(0x1B4F8F), // blue
	rgb(0xE5A823), // gold
	rgb(0x0E7C66), // green
	rgb(0x8CC5EE), // sky
	rgb(0x3B1238), // aubergine
	rgb(0xB478E6), // orchid
}

// views are pale colours, to be told from leaders at a glance.
var views = [...]color.NRGBA{
	rgb(0xCFE3D2), // mint
	rgb(0xF0D9A8), // sand
	rgb(0xBFD3EC), // ice
	rgb(0xECE9A6), // straw
	rgb(0xD7C3E4), // lilac
	rgb(0xF0C3B8), // shell
}

// A colouring gives each group of bars its colour, by the order of their keys,
// so that a part of a run has the colours of the whole.
type colouring struct{ leads, views []int }

func colouringOf(r *Run) (c colouring) {
	for i := range r.Bars {
		switch b := &r.Bars[i]; b.Kind {
		case Lead, Lock:
			c.leads = append(c.leads, b.Group)
		case View, Stale:
			c.views = append(c.views, b.Group)
		}
	}
	for _, keys := range []*[]int{&c.leads, &c.views} {
		slices.Sort(*keys)
		*keys = slices.Compact(*keys)
	}
	return c
}

func (c *colouring) of(b *Bar) color.NRGBA {
	switch b.Kind {
	case Lead, Lock:
		i, _ := slices.BinarySearch(c.leads, b.Group)
		return leaders[i%len(leaders)]
	case View, Stale:
		i, _ := slices.BinarySearch(c.views, b.Group)
		return views[i%len(views)]
	}
	return downFill
}

// luma is the lightness of a colour in grey, 0 to 255.
func luma(c color.NRGBA) float64 {
	return 0.299*float64(c.R) + 0.587*float64(c.G) + 0.114*float64(c.B)
}

// textOn is the ink that can be read on c.
func textOn(c color.NRGBA) color.NRGBA {
	if luma(c) < 140 {
		return white
	}
	return inkDark
}
