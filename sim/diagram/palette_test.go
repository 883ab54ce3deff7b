package diagram

import (
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// eyes are linear models of full colour vision and of the lack of each of the
// three kinds of cones, on linear RGB.
var eyes = map[string][3][3]float64{
	"all cones": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"no long":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"no medium": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"no short":  {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is a colour as an eye sees it, in coordinates of which distances are as perceived.
func lab(c color.NRGBA, eye [3][3]float64) [3]float64 {
	linear := func(v uint8) float64 {
		if x := float64(v) / 255; x > 0.04045 {
			return math.Pow((x+0.055)/1.055, 2.4)
		}
		return float64(v) / 255 / 12.92
	}
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	mul := func(m [3][3]float64, v [3]float64) (out [3]float64) {
		for i := range 3 {
			out[i] = min(max(m[i][0]*v[0]+m[i][1]*v[1]+m[i][2]*v[2], 0), 1.1)
		}
		return out
	}
	xyz := mul([3][3]float64{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}, mul(eye, in))
	f := func(v, ref float64) float64 {
		if v /= ref; v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x, y, z := f(xyz[0], 0.9505), f(xyz[1], 1), f(xyz[2], 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b color.NRGBA, eye [3][3]float64) float64 {
	p, q := lab(a, eye), lab(b, eye)
	return math.Sqrt(math.Pow(p[0]-q[0], 2) + math.Pow(p[1]-q[1], 2) + math.Pow(p[2]-q[2], 2))
}

func TestColoursAreDistinctForEveryEye(t *testing.T) {
	for eye, m := range eyes {
		for i, a := range leaders {
			for j, b := range leaders[:i] {
				require.Greater(t, distance(a, b, m), 15.0, "leaders %d and %d, %s", i, j, eye)
			}
			require.Greater(t, distance(a, violation, m), 20.0, "leader %d and a violation, %s", i, eye)
		}
		for i := range views {
			require.Greater(t, distance(views[i], views[(i+1)%len(views)], m), 6.0, "views %d and next, %s", i, eye)
		}
		require.Greater(t, distance(fastInk, slowInk, m), 20.0, eye)
		require.Greater(t, distance(slowInk, lostInk, m), 20.0, eye)
	}
}

func TestColoursReadInGrey(t *testing.T) {
	for i := range len(leaders) - 1 {
		require.Greater(t, math.Abs(luma(leaders[i])-luma(leaders[i+1])), 40.0, "leaders %d and %d", i, i+1)
	}
	for _, c := range append(leaders[:], views[:]...) {
		require.Greater(t, math.Abs(luma(c)-luma(textOn(c))), 90.0, "text on %v", c)
	}
	for _, v := range views {
		for _, l := range leaders {
			require.Greater(t, luma(v), luma(l)+10, "views are pale")
		}
	}
}

func TestAPartOfARunHasTheColoursOfTheWhole(t *testing.T) {
	r := sampleRun()
	whole, part := parse(t, r, Options{}), parse(t, r, Options{From: 330 * ms, To: 400 * ms})
	fill := map[string]string{}
	for _, e := range whole.in("bars", "") {
		fill[e.tip()] = e.attr("fill")
	}
	for _, kind := range []string{"lead", "lock", "view"} {
		require.NotEmpty(t, part.in("bars", kind))
		for _, e := range part.in("bars", kind) {
			require.Equal(t, fill[e.tip()], e.attr("fill"), e.tip())
		}
	}
	lead := whole.in("bars", "lead")
	require.NotEqual(t, lead[0].attr("fill"), lead[len(lead)-1].attr("fill"), "two leaders, two colours")
}
