package timed

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The guarantees of the presets in docs/how-to/tuning.md are those of the code, rounded
// up.
func TestDocumentedGuarantees(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/tuning.md")
	require.NoError(t, err)
	for _, name := range Presets() {
		timing, err := Preset(name)
		require.NoError(t, err)
		b, err := timing.Validate()
		require.NoError(t, err)
		row := ""
		for _, d := range []time.Duration{b.Notice, b.Elect, b.View} {
			ms := int((d + time.Millisecond - 1) / time.Millisecond)
			if ms >= 1000 {
				row += fmt.Sprintf(" %d,%03d |", ms/1000, ms%1000)
			} else {
				row += fmt.Sprintf(" %d |", ms)
			}
		}
		found := false
		for line := range strings.Lines(string(page)) {
			found = found || strings.HasPrefix(line, "| `"+name+"`") && strings.HasSuffix(strings.TrimSpace(line), row)
		}
		require.True(t, found, "%s: the table has no row that ends with%s", name, row)
	}
}
