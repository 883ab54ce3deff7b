package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// example returns commands whose texts hold everything that roff could misunderstand.
func example() *cobra.Command {
	root := &cobra.Command{Use: "prog", Short: "Do things", Run: func(*cobra.Command, []string) {}}
	root.PersistentFlags().String("addr", "", "where it is")
	sub := &cobra.Command{Use: "sub FILE", Short: "Do one thing", Run: root.Run, Example: "  prog sub .hidden",
		Long: "One \\ thing.\n'quoted' and\n.dotted, as MY_NAME or *this* or <that>.\n\n  kept   as it is\n\nThe end."}
	sub.Flags().DurationP("every", "e", time.Second, "how `often`")
	sub.Flags().Bool("quiet", false, "say nothing")
	root.AddCommand(sub, &cobra.Command{Use: "secret", Hidden: true, Run: root.Run})
	return root
}

func TestPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	require.NoError(t, Write(example(), dir, "1.2.3", time.Unix(86400, 0)))
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	require.Equal(t, []string{"prog-sub.1", "prog.1"}, names)
	got, err := os.ReadFile(filepath.Join(dir, "prog-sub.1"))
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/prog-sub.1")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// mandoc has no complaint about the pages.
func TestPagesAreSoundForMandoc(t *testing.T) {
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is not installed")
	}
	dir := t.TempDir()
	require.NoError(t, Write(example(), dir, "1.2.3", time.Unix(86400, 0)))
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	require.NoError(t, err)
	out, err := exec.Command("mandoc", append([]string{"-T", "lint", "-W", "warning"}, pages...)...).CombinedOutput()
	require.NoError(t, err, string(out))

	shown, err := exec.Command("mandoc", "-T", "ascii", filepath.Join(dir, "prog-sub.1")).Output()
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(shown)), " "), `One \ thing. 'quoted' and .dotted, as MY_NAME or *this* or <that>.`)
}
