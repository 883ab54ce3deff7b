package hardware

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

// randomRate draws the rate of a clock that may be worse than any that timing
// allows.
var randomRate = rapid.OneOf(rapid.Int64Range(-200_000, 200_000), rapid.Int64Range(-50_000_000, 50_000_000))

// drawSpan draws a duration from nanoseconds to years.
var drawSpan = rapid.Custom(func(t *rapid.T) int64 {
	return rapid.Int64Range(0, 1<<57).Draw(t, "span") >> rapid.IntRange(0, 57).Draw(t, "shift")
})

func TestScaleRoundsTheExactProductDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, ppb := drawSpan.Draw(t, "d"), randomRate.Draw(t, "ppb")
		if rapid.Bool().Draw(t, "negative") {
			d = -d
		}
		exact := new(big.Int).Mul(big.NewInt(d), big.NewInt(billion+ppb))
		require.Equal(t, exact.Div(exact, big.NewInt(billion)).Int64(), scale(d, ppb)) // Div rounds down: the divisor is positive
	})
}

func TestAClockShowsAnInstantWhenItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(drawSpan.Draw(t, "base"), timed.Instant(drawSpan.Draw(t, "at")), randomRate.Draw(t, "rate"))
		h := c.at + timed.Instant(drawSpan.Draw(t, "later"))
		if rapid.Bool().Draw(t, "before the bend") {
			h = c.at - timed.Instant(drawSpan.Draw(t, "earlier"))
		}
		at := c.When(h)
		require.GreaterOrEqual(t, c.Show(at), h)
		require.Less(t, c.Show(at-1), h)
	})
	require.Equal(t, int64(Forever), New(0, 0, 100).When(timed.Never))
}
