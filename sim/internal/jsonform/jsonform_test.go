package jsonform

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

type inner struct {
	For time.Duration `json:"for"`
}

type outer struct {
	At    time.Duration `json:"at"`
	Node  timed.NodeID  `json:"node,omitempty"`
	Nodes timed.Set     `json:"nodes,omitzero"`
	Sets  []timed.Set   `json:"sets,omitempty"`
	List  []inner       `json:"list,omitempty"`
	One   *inner        `json:"one,omitempty"`
	Text  string        `json:"text,omitempty"`
}

func TestFormsAreReadAgain(t *testing.T) {
	for text, v := range map[string]outer{
		`{"at":"0s"}`: {},
		`{"at":"1.5s","node":7,"nodes":[1,3],"sets":[[2],[]],"list":[{"for":"1ms"},{"for":"2h0m0s"}],"one":{"for":"-1ns"},"text":"x"}`: {At: 1500 * time.Millisecond, Node: 7,
			Nodes: timed.SetOf(1, 3), Sets: []timed.Set{timed.SetOf(2), {}}, List: []inner{{time.Millisecond}, {2 * time.Hour}}, One: &inner{-1}, Text: "x"},
	} {
		b, err := Marshal(&v)
		require.NoError(t, err)
		require.Equal(t, text, string(b))
		var again outer
		require.NoError(t, Unmarshal(b, &again))
		require.Equal(t, v, again)
	}
}

func TestBadFormsAreErrors(t *testing.T) {
	for text, says := range map[string]string{
		`{"at":5}`: "cannot unmarshal", `{"at":"soon"}`: "soon", `{"nodes":[0]}`: "node 0: must be 1", `{"nodes":[300]}`: "node 300",
		`{"color":1}`: "unknown field", `{"list":[{"at":"1s"}]}`: "unknown field", `{} {}`: "data after", `{`: "unexpected",
	} {
		var v outer
		require.ErrorContains(t, Unmarshal([]byte(text), &v), says, text)
	}
}
