package shape

import (
	"testing"

	"github.com/golangci/misspell"
	"github.com/stretchr/testify/require"
)

// The pages and the code have none of the spellings that are known to be mistakes.
func TestSpelling(t *testing.T) {
	r := misspell.New()
	r.Compile()
	for name, text := range files(t, ".md", ".go") {
		if _, found := r.Replace(text); len(found) > 0 {
			t.Errorf("%s:%d: %q should be %q", name, found[0].Line, found[0].Original, found[0].Corrected)
		}
	}
}

func TestMisspellingsAreSeen(t *testing.T) {
	r := misspell.New()
	r.Compile()
	_, found := r.Replace("This is re" + "cieved.")
	require.Len(t, found, 1)
	_, found = r.Replace("The licence of this colour is received.")
	require.Empty(t, found)
}
