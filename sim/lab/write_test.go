package lab

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim"
)

func someRows(t *testing.T) []Row {
	algs, err := FindAlgorithms("bully,local")
	require.NoError(t, err)
	rows, err := Compare(context.Background(), Plan{Algorithms: algs, Scenarios: []Scenario{scenario(t, "trio-cut")}, First: 1, Seeds: 2})
	require.NoError(t, err)
	return rows
}

func TestRowsAreWritten(t *testing.T) {
	rows := someRows(t)
	var b bytes.Buffer
	require.NoError(t, WriteCSV(&b, rows))
	table, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Len(t, table, 3)
	col := map[string]int{}
	for i, name := range table[0] {
		col[name] = i
	}
	require.Equal(t, "bully", table[1][col["algorithm"]])
	require.Equal(t, "violated by 2, first by seed 1", table[1][col["assertion 4'"]])
	require.Equal(t, "kept", table[2][col["assertion 4'"]])
	require.Contains(t, rows[0].Broken(), "assertion 4' 1")
	require.NotContains(t, rows[1].Broken(), "!", "nothing that was promised")

	text, err := json.Marshal(rows[1].Line())
	require.NoError(t, err)
	var l Line
	require.NoError(t, json.Unmarshal(text, &l))
	require.Equal(t, rows[1].Line(), l)
	require.Len(t, l.Specs, len(Specs()))

	x := Tally{Spec: T, Promised: true, Tested: 5, Violated: 2, First: 9}
	require.Equal(t, "VIOLATED by 2 of 5, first by seed 9!", x.Verdict())
	require.Equal(t, "untested", (&Tally{}).Verdict())
}

func TestPlotIsAPicture(t *testing.T) {
	rows := someRows(t)
	var b bytes.Buffer
	require.NoError(t, WritePlot(&b, "three <nodes>", rows))
	text := b.String()
	require.Contains(t, text, "three &lt;nodes&gt;")
	require.Equal(t, len(panels)*len(rows)+1, strings.Count(text, "<rect"))
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
	}
}

func TestRecordings(t *testing.T) {
	s := scenario(t, "stoller")
	rec, err := Record(algorithm(t, "invitation"), s, 1, 19*time.Second, 21*time.Second)
	require.NoError(t, err)
	require.Equal(t, 21*time.Second, rec.To)
	says := map[string]bool{}
	for _, m := range rec.Messages {
		says[m.Says] = true
	}
	for _, want := range []string{"invitation", "accept", "answer yes", "ready", "coordinator?", "reply yes", "there?"} {
		require.True(t, says[want], want)
	}
	var led, followed, down bool
	for _, b := range rec.Bars {
		require.LessOrEqual(t, b.From, b.To)
		led = led || b.Kind == sim.BarLeads && b.Node == 1 && b.Members.Has(2) && !b.Members.Has(3)
		followed = followed || b.Kind == sim.BarVote && b.Node == 2 && b.Leader == 1 && b.To == rec.To
		down = down || b.Kind == sim.BarDown && b.Node == 1
	}
	require.True(t, led && followed && down)

	rec, err = Record(algorithm(t, "local"), s, 1, 20*time.Second, 20500*time.Millisecond)
	require.NoError(t, err)
	require.NotEmpty(t, rec.Bars)
	_, err = Record(algorithm(t, "local"), s, 1, time.Second, time.Second)
	require.ErrorContains(t, err, "there is no time from 1s to 1s in scenario stoller")
}
