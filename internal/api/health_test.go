package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// A node is ready while its view is up to date, and not already when it has one.
func TestReadiness(t *testing.T) {
	installed := &failaware.View{ID: failaware.ViewID{Sequence: 3, Leader: 1, Boot: 7}}
	for _, c := range []struct {
		stopped bool
		view    failaware.ViewAnswer
		reason  string
	}{
		{view: failaware.ViewAnswer{View: installed, UpToDate: true}},
		{view: failaware.ViewAnswer{View: installed}, reason: "the view is not up to date"},
		{view: failaware.ViewAnswer{View: &failaware.View{}}, reason: "the view is not up to date"},
		{view: failaware.ViewAnswer{View: installed, UpToDate: true}, stopped: true, reason: "the node has stopped"},
	} {
		require.Equal(t, c.reason, notReady(c.stopped, c.view))
	}
}
