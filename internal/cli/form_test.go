package cli

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// What a flag refuses is answered with the form that it should have, and with no word of the
// parser.
func TestRefusedValuesNameTheirForm(t *testing.T) {
	p := Program{Root: func() *cobra.Command {
		root := &cobra.Command{Use: "prog", Args: cobra.NoArgs, RunE: Help}
		f := root.Flags()
		f.Int("int", 0, "")
		f.Uint64("uint", 0, "")
		f.Float64("float", 0, "")
		f.Bool("bool", false, "")
		f.Duration("duration", 0, "")
		f.IntSlice("list", nil, "")
		RegisterFormat(f)
		return root
	}}
	const range64 = "it is too far from 0"
	for value, want := range map[string]string{
		"int=x": "it is not a whole number", "int=1.5": "it is not a whole number", "int=99999999999999999999": range64,
		"uint=-1": "it is not a whole number from 0 on", "uint=99999999999999999999": range64,
		"float=x": "it is not a number", "float=1e999": range64, "bool=maybe": "it is neither true nor false",
		"duration=5": "it is not a duration with a unit, as in 80ms", "duration=-99999999999h": ErrLongDuration.Error(),
		"list=1,x": "it is not a list of whole numbers, as in 3,5", "output=x": "it is none of table, json, ndjson",
	} {
		var out, problems bytes.Buffer
		require.Equal(t, 2, p.Run(t.Context(), []string{"--" + value}, strings.NewReader(""), &out, &problems), value)
		require.Contains(t, problems.String(), " flag: "+want+"\n", value)
		require.Empty(t, out.String())
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"80ms": 80 * time.Millisecond, "-1.5h.5s": -90*time.Minute - time.Second/2, "0": 0} {
		d, err := ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, d)
	}
	for _, text := range []string{"", "80", "1e3s", "2h45", ".s", "h", "80 ms", "99999999999"} {
		_, err := ParseDuration(text)
		require.ErrorIs(t, err, errNoDuration, text)
	}
	d, err := ParseDuration("99999999999.5h1ns")
	require.ErrorIs(t, err, ErrLongDuration)
	require.Equal(t, time.Duration(math.MaxInt64), d)
	d, err = ParseDuration("-99999999999h")
	require.ErrorIs(t, err, ErrLongDuration)
	require.Equal(t, time.Duration(-math.MaxInt64), d)
}
