package campaign

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim"
)

func behaviour(names ...string) (b Behaviour) {
	for i, name := range names {
		b = append(b, NewBehaviourLine(name, &sim.Tally{Seeds: uint64(i + 1), Hash: "00ff", Led: 0.5, Fresh: 0.25, WorstViewMS: 12.34}))
	}
	return b
}

func TestBehaviourIsReadAsItWasWritten(t *testing.T) {
	b := behaviour("mild", "rough-strict-id")
	var text bytes.Buffer
	require.NoError(t, b.Write(&text))
	got, err := ReadBehaviour(&text)
	require.NoError(t, err)
	require.Equal(t, b, got)
}

func TestOtherFilesAreNoBehaviour(t *testing.T) {
	_, err := ReadBehaviour(strings.NewReader("something else\n"))
	require.EqualError(t, err, `line 1: "something else" is not the header of a table of behaviour`)
	_, err = ReadBehaviour(strings.NewReader(string(behaviourHeader) + "\nmild 3\n"))
	require.EqualError(t, err, `line 2: "mild 3" has other columns than the header`)
}

func TestChangesOfBehaviour(t *testing.T) {
	was, is := behaviour("same", "other", "gone"), behaviour("same", "other", "new")
	is[1] = BehaviourLine(strings.Replace(string(is[1]), "00ff", "00fe", 1))
	var text bytes.Buffer
	changed, err := is.Changes(&text, was)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, `     campaign  seeds  hash  led     fresh   elections  views  deliveries  election-ms  view-ms  delivery-ms
was  other     2      00ff  0.5000  0.2500  0          0      0           0.0          12.3     0.0
is   other     2      00fe  0.5000  0.2500  0          0      0           0.0          12.3     0.0
was  gone      3      00ff  0.5000  0.2500  0          0      0           0.0          12.3     0.0
new  new       3      00ff  0.5000  0.2500  0          0      0           0.0          12.3     0.0
`, text.String())

	text.Reset()
	changed, err = is.Changes(&text, is)
	require.NoError(t, err)
	require.False(t, changed)
	require.Empty(t, text.String())
}

// Some campaigns are run again; the lines of the others stay, all in the order of the table.
func TestSomeLinesOfBehaviourChange(t *testing.T) {
	former := behaviour("mild", "servers", "broadcast")
	got := behaviour("servers-outage", "mild").Over(former)
	require.Equal(t, Behaviour{behaviour("", "mild")[1], former[1], behaviour("servers-outage")[0], former[2]}, got)
}
