package clitest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Page is a Markdown page.
type Page struct{ Name, Text string }

// Pages returns the pages of the repository whose root this is.
func Pages(t testing.TB, root string) (pages []Page) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && file != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" || e.Name() == "testdata") {
			return filepath.SkipDir
		}
		if e.IsDir() || filepath.Ext(file) != ".md" {
			return nil
		}
		b, err := os.ReadFile(file)
		rel, _ := filepath.Rel(root, file)
		pages = append(pages, Page{filepath.ToSlash(rel), string(b)})
		return err
	}))
	require.NotEmpty(t, pages)
	return pages
}

// Block is a fenced block of a page, with the words that follow its first fence.
type Block struct{ Info, Text string }

var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

// Blocks returns the fenced blocks of a page.
func (p Page) Blocks() (blocks []Block) {
	for _, m := range fence.FindAllStringSubmatch(p.Text, -1) {
		blocks = append(blocks, Block{strings.TrimSpace(m[1]), m[2]})
	}
	return blocks
}

// code returns the lines of a page that can be commands: those of fenced blocks for a
// shell, and those that are indented.
func (p Page) code() (lines []string) {
	for _, b := range p.Blocks() {
		if b.Info == "" || strings.HasPrefix(b.Info, "sh") || strings.HasPrefix(b.Info, "bash") {
			lines = append(lines, strings.Split(b.Text, "\n")...)
		}
	}
	for line := range strings.Lines(fence.ReplaceAllString(p.Text, "")) {
		if rest, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, strings.TrimSpace(rest))
		}
	}
	return lines
}

// CheckPages checks the command lines of a program in all pages: their commands and
// flags exist. It returns their number.
func CheckPages(t testing.TB, root string, command func() *cobra.Command) (count int) {
	t.Helper()
	name := command().Name()
	for _, p := range Pages(t, root) {
		for _, line := range p.code() {
			for _, args := range calls(name, line) {
				count++
				if err := known(command(), args); err != nil {
					t.Errorf("%s: %v: %s", p.Name, err, line)
				}
			}
		}
	}
	return count
}

var (
	comment = regexp.MustCompile(`(^|\s)#.*$`)
	between = regexp.MustCompile(`\|\||&&|[|;&<>()]`)
	flag1   = regexp.MustCompile(`^--?([A-Za-z][\w-]*)`)
	word    = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// calls returns the arguments of a program in each of its calls in a line.
func calls(name, line string) (all [][]string) {
	for _, part := range between.Split(comment.ReplaceAllString(line, ""), -1) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "$" || words[0] == "sudo" || words[0] == "do") {
			words = words[1:]
		}
		if len(words) > 0 && (words[0] == name || words[0] == "bin/"+name) {
			all = append(all, words[1:])
		}
	}
	return all
}

// known returns an error if the arguments name a command or a flag that does not exist.
func known(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	if cmd.HasSubCommands() && len(rest) > 0 && !cmd.Runnable() && word.MatchString(rest[0]) {
		return fmt.Errorf("%s has no command %q", cmd.CommandPath(), rest[0])
	}
	for _, a := range args {
		if a == "--" {
			break
		}
		m := flag1.FindStringSubmatch(a)
		if m == nil || cmd.Flag(m[1]) != nil || cmd.InheritedFlags().Lookup(m[1]) != nil {
			continue
		}
		if len(m[1]) == 1 && (cmd.Flags().ShorthandLookup(m[1]) != nil || cmd.InheritedFlags().ShorthandLookup(m[1]) != nil) {
			continue
		}
		return fmt.Errorf("%s has no flag %s", cmd.CommandPath(), m[0])
	}
	return nil
}
