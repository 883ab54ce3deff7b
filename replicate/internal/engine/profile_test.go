package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// twice is what readsTwice has said in asksTwice.
var twice bool

func asksTwice() { twice = readsTwice() }

// A read knows whether it is within another.
func TestReadsTwice(t *testing.T) {
	e := idle(t)
	e.Read(asksTwice)
	require.False(t, twice, "there is one read")
	e.Read(func() { e.Read(asksTwice) })
	require.True(t, twice)
	asksTwice()
	require.False(t, twice, "there is none any more")
}

// profile returns a profile for the compiler, in the form of go tool preprofile, with calls that
// are worth to be inlined.
func profile(calls [][2]string) string {
	var b strings.Builder
	b.WriteString("GO PREPROFILE V1\n")
	for _, call := range calls {
		for line := range 80 { // of the function that calls
			fmt.Fprintf(&b, "%s.%s\n%s.%s\n%d 1\n", path, call[0], path, call[1], line)
		}
	}
	return b.String()
}

const path = "github.com/failaware/failaware/replicate/internal/engine"

// With a profile the compiler inlines what it otherwise would not, as in a program with a
// default.pgo. The calls of the application are noticed all the same.
func TestInsideWithAProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "profile")
	require.NoError(t, os.WriteFile(file, []byte(profile([][2]string{
		{"(*Engine).Run.func1", "(*Engine).perform"}, {"insideCalls", "(*Engine).perform"}, {"(*Engine).perform", "(*Engine).call"},
		{"TestReadsTwice", "(*Engine).Read"}, {"TestReadsTwice.func1", "(*Engine).Read"}, {"(*Engine).ReadDelivered", "(*Engine).Read"},
		{"(*Engine).Read", "asksTwice"},
	})), 0o600))
	cmd := exec.Command("go", "test", "-vet=off", "-gcflags="+path+"=-m -pgoprofile="+file, "-run", "^(TestInside|TestReadsTwice)$", ".")
	out, err := cmd.CombinedOutput()
	for _, done := range []string{"inlining call to (*Engine).call", "PGO devirtualizing function call f to asksTwice"} {
		require.True(t, strings.Contains(string(out), done), "the compiler does not say %q", done)
	}
	_, failed, _ := strings.Cut(string(out), "--- FAIL")
	require.NoError(t, err, failed)
}
