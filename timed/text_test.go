package timed

import (
	"encoding"
	"testing"

	"github.com/stretchr/testify/require"
)

// textual is a type with a text that is read back.
type textual[T any] interface {
	*T
	encoding.TextUnmarshaler
}

// readsBack requires that values come back from their texts, and that other texts are refused
// and change nothing.
func readsBack[T encoding.TextMarshaler, P textual[T]](t *testing.T, before T, refused []string, values ...T) {
	for _, v := range values {
		text, err := v.MarshalText()
		require.NoError(t, err)
		back := before
		require.NoError(t, P(&back).UnmarshalText(text))
		require.Equal(t, v, back, "%s", text)
	}
	for _, text := range refused {
		back := before
		require.ErrorContains(t, P(&back).UnmarshalText([]byte(text)), text)
		require.Equal(t, before, back)
	}
}

func TestIDsComeBackFromTheirTexts(t *testing.T) {
	readsBack(t, NodeID(9), []string{"", "0", "256", "-1", "1.0", "x"}, NoNode, 1, MaxNodes)
	readsBack(t, BootID(9), []string{"", "1", "00000000000000001", "000000000000000x", "-000000000000001"}, 0, 1, 0xc0ffee, 1<<63)
	readsBack(t, Incarnation{9, 9}, []string{"", "1", "1/", "/0000000000000001", "1/1", "x/0000000000000001", "256/0000000000000001", "1/2/0000000000000001"},
		Incarnation{}, Incarnation{7, 255}, Incarnation{MaxNodes, 1 << 63}, Incarnation{0, 1})
	readsBack(t, SetOf(9), []string{"", "{", "}", "1", "{1", "1}", "{0}", "{1 x}", "{256}"}, Set{}, SetOf(1), SetOf(1, 64, MaxNodes))
}
