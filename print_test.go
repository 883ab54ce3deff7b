package failaware

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// People print what they have. A node is printed by its name, while it runs, without a race.
func TestANodeIsPrintedWhileItRuns(t *testing.T) {
	n, err := Start(t.Context(), Config{ID: 7, Name: "alpha", Group: "plant"})
	require.NoError(t, err)
	defer n.Close()
	var log strings.Builder
	l := slog.New(slog.NewTextHandler(&log, nil))
	for range 100 {
		require.Equal(t, "node 7 (alpha) of group plant", fmt.Sprintf("%+v", n))
		l.Info("started", "node", n)
	}
	require.Contains(t, log.String(), `node="node 7 (alpha) of group plant"`)
}
