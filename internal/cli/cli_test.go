package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

var errNever = errors.New("never")

// try runs a program whose command returns err.
func try(err error, args ...string) (code int, stdout, stderr string) {
	p := Program{Never: func(err error) bool { return errors.Is(err, errNever) }, Root: func() *cobra.Command {
		root := &cobra.Command{Use: "prog", Args: cobra.NoArgs, RunE: Help}
		RegisterFormat(root.PersistentFlags())
		root.AddCommand(&cobra.Command{Use: "do", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.Join(PrintLine(cmd, map[string]int{"n": 1}, "<text>"), err)
		}})
		return root
	}}
	var out, problems bytes.Buffer
	code = p.Run(context.Background(), args, strings.NewReader(""), &out, &problems)
	return code, out.String(), problems.String()
}

func TestErrorsChooseTheExitCodeAndTheMessage(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{nil, 0, ""},
		{ErrNo, 1, ""},
		{errors.New("broken"), 1, "prog: broken\n"},
		{fmt.Errorf("it is %w", errNever), 2, "prog: it is never\n"},
		{No(errors.New("too late")), 1, "prog: too late\n"},
		{Wrong("--n: %d", 7), 2, "prog: --n: 7\n"},
		{Printed(errors.New("printed")), 1, ""},
		{Printed(context.Canceled), 1, ""},
		{&ExitError{Code: 137}, 137, ""},
		{context.Canceled, 1, "prog: interrupted\n"},
		{errors.Join(errors.New("failaware: one"), errors.New("two")), 1, "prog: one\nprog: two\n"},
	} {
		code, out, text := try(c.err, "do")
		require.Equal(t, c.code, code, c.err)
		require.Equal(t, c.text, text)
		require.Equal(t, "<text>\n", out)
	}
	require.NoError(t, Verdict(nil, true))
	require.ErrorIs(t, Verdict(nil, false), ErrNo)
	require.ErrorIs(t, Verdict(errNever, true), errNever)
}

// Errors in a command line refer to the help; errors of the command itself do not.
func TestWrongCommandLinesReferToTheHelp(t *testing.T) {
	for args, command := range map[string]string{"--bogus": "prog", "bogus": "prog", "do extra": "prog do", "do -o xml": "prog do"} {
		code, out, text := try(nil, strings.Fields(args)...)
		require.Equal(t, 2, code, args)
		require.Empty(t, out)
		require.True(t, strings.HasSuffix(text, "\nprog: see '"+command+" --help'\n"), text)
	}
}

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{"table": "<text>\n", "json": "{\n  \"n\": 1\n}\n", "ndjson": "{\"n\":1}\n"} {
		_, out, _ := try(nil, "do", "-o", format)
		require.Equal(t, want, out)
	}
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, AsNDJSON, "<&>"))
	require.Equal(t, "\"<&>\"\n", b.String(), "people read it, too")
	require.Equal(t, AsTable, FormatOf(&cobra.Command{}))
}

func TestDurationsAreBrief(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0: {"0", "0"}, 1234567: {"1.23ms", "1.235ms"}, -1234567: {"-1.23ms", "-1.23ms"}, 999: {"999ns", "999ns"},
		90*time.Second + 1: {"1m30s", "1m30.01s"},
	} {
		require.Equal(t, want[0], Brief(d))
		require.Equal(t, want[1], BriefUp(int64(d)), "a bound is never rounded down")
	}
}

func TestTablesAlign(t *testing.T) {
	var b bytes.Buffer
	table := NewTable(&b)
	table.Row("a", 1)
	table.Row("long", YesNo(true), Dash(""))
	require.NoError(t, table.Flush())
	require.Equal(t, "a     1\nlong  yes  -\n", b.String())
	b.Reset()
	table.Row("東京", "e\u0301", "x") // wide characters, and one that takes no room
	table.Row("b", "c", "y")
	table.Row("the widest of all, which is alone")
	table.Row("d", "last")
	require.NoError(t, table.Flush())
	require.Equal(t, "東京  e\u0301  x\nb     c  y\nthe widest of all, which is alone\nd  last\n", b.String())
	require.Error(t, Print(&cobra.Command{}, nil, func(io.Writer) error { return errNever }))
}

func TestValuesParseWhenTheyAreSet(t *testing.T) {
	size := OneOf(Choice[int]{"small", 1}, Choice[int]{"large", 2})
	v := NewValue("small,large", "sizes", ListOf(size))
	require.Equal(t, []int{1, 2}, v.Value)
	require.NoError(t, v.Set("large"))
	require.Equal(t, []int{2}, v.Value)
	require.EqualError(t, v.Set("large,huge"), "it is none of small, large")
	require.Equal(t, "large", v.String(), "a wrong text changes nothing")
	require.Equal(t, "sizes", v.Type())
	require.Panics(t, func() { NewValue("huge", "size", size) })
}

func TestArgumentsAreNamed(t *testing.T) {
	for _, c := range []struct {
		use  string
		args int
		want string
	}{
		{"wait a|b", 0, "wait: a|b is missing"},
		{"wait a|b", 1, ""},
		{"wait a|b", 2, `wait: "x" is one argument too many`},
		{"check [FILE]", 0, ""},
		{"check [FILE]", 1, ""},
		{"check [FILE]", 2, `check: "x" is one argument too many`},
		{"plot FILE...", 0, "plot: FILE is missing"},
		{"plot FILE...", 9, ""},
		{"view", 1, `view: "x" is one argument too many`},
	} {
		err := Args(&cobra.Command{Use: c.use}, slices.Repeat([]string{"x"}, c.args))
		if c.want == "" {
			require.NoError(t, err, c)
		} else {
			require.EqualError(t, err, c.want)
		}
	}
}

func TestNamesAreCompleted(t *testing.T) {
	require.Equal(t, []string{"a", "b"}, alternatives("a|b"))
	for _, none := range []string{"", "name", "TEXT|-", "a|B"} {
		require.Nil(t, alternatives(none), none)
	}
	var out strings.Builder
	p := &Program{Root: func() *cobra.Command {
		root := &cobra.Command{Use: "prog"}
		sub := &cobra.Command{Use: "wait one|two", RunE: Help}
		RegisterFormat(sub.Flags())
		root.AddCommand(sub)
		return root
	}}
	require.Zero(t, p.Run(t.Context(), []string{"__complete", "wait", ""}, nil, &out, io.Discard))
	require.Zero(t, p.Run(t.Context(), []string{"__complete", "wait", "-o", ""}, nil, &out, io.Discard))
	require.Equal(t, "one\ntwo\n:4\ntable\njson\nndjson\n:4\n", out.String())
}

func TestVersionNamesTheCommit(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}}
	require.Regexp(t, `^\S+ \(commit 0123456789ab with changes, go\S+, \w+/\w+\)$`, version(info))
	require.Regexp(t, `^\S+ \(commit unknown, `, version(&debug.BuildInfo{}))
	defer func() { commit = "" }()
	commit = "fedcba" // that a release sets says all
	require.Regexp(t, `^\S+ \(commit fedcba, `, version(info))
}

func TestDistanceCountsTypos(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"", "abc", 3}, {"abc", "axc", 1}, {"abc", "ac", 1}, {"ac", "abc", 1}, {"abcd", "badc", 2}} {
		require.Equal(t, c.want, distance(c.a, c.b), c)
	}
}

func TestUnknownNamesHaveSuggestions(t *testing.T) {
	p := Program{Elsewhere: map[string]string{"sim": "prog-lab sim"}, Root: func() *cobra.Command {
		root := &cobra.Command{Use: "prog", Args: cobra.NoArgs, RunE: Help}
		root.PersistentFlags().String("addr", "", "")
		keys := &cobra.Command{Use: "keys"}
		list := &cobra.Command{Use: "list", Args: cobra.NoArgs, RunE: Help}
		list.Flags().Int("id", 0, "")
		keys.AddCommand(list)
		root.AddCommand(keys, &cobra.Command{Use: "keygen", RunE: Help, Hidden: true})
		return root
	}}
	for _, c := range []struct{ line, want string }{
		{"kyes", "unknown command \"kyes\" for \"prog\"; there is keys\nprog: see 'prog --help'"}, // two letters are swapped
		{"key", "unknown command \"key\" for \"prog\"; there is keys\nprog: see 'prog --help'"},
		{"keygem", "unknown command \"keygem\" for \"prog\"\nprog: see 'prog --help'"}, // what is hidden stays hidden
		{"sim --seeds 2", "unknown command \"sim\" for \"prog\"; there is prog-lab sim\nprog: see 'prog --help'"},
		{"sim", "unknown command \"sim\" for \"prog\"; there is prog-lab sim\nprog: see 'prog --help'"},
		{"keys lst", "unknown command \"lst\" for \"prog keys\"; there is list\nprog: see 'prog keys --help'"},
		{"keys sim", "unknown command \"sim\" for \"prog keys\"\nprog: see 'prog keys --help'"},
		{"help keis", "unknown command \"keis\" for \"prog\"; there is keys\nprog: see 'prog help --help'"},
		{"help keys lost", "unknown command \"lost\" for \"prog keys\"; there is list\nprog: see 'prog help --help'"},
		{"completion bsh", "unknown command \"bsh\" for \"prog completion\"; there is bash\nprog: see 'prog completion --help'"},
		{"keys list --adr x", "unknown flag: --adr; there is --addr\nprog: see 'prog keys list --help'"},
		{"keys list --colour", "unknown flag: --colour\nprog: see 'prog keys list --help'"},
		{"keys list -id 2", "unknown shorthand flag: 'i' in -id; there is --id\nprog: see 'prog keys list --help'"},
		{"keys list -x", "unknown shorthand flag: 'x' in -x\nprog: see 'prog keys list --help'"},
	} {
		var out, problems bytes.Buffer
		require.Equal(t, 2, p.Run(t.Context(), strings.Fields(c.line), strings.NewReader(""), &out, &problems), c.line)
		require.Equal(t, "prog: "+c.want+"\n", problems.String(), c.line)
		require.Empty(t, out.String())
	}
	for _, line := range []string{"help", "help keys", "help keys list", "completion", "keys"} {
		var out, problems bytes.Buffer
		require.Zero(t, p.Run(t.Context(), strings.Fields(line), strings.NewReader(""), &out, &problems), line)
		require.Contains(t, out.String(), "Usage:", line)
	}
}

// fullDisk is an output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/full", Err: errors.New("no space")}
}

// What is not written ends a program with 1: also the help and the version, which cobra prints.
func TestOutputsThatAreNotWrittenAreNoUsage(t *testing.T) {
	p := Program{Root: func() *cobra.Command {
		root := &cobra.Command{Use: "prog", Args: cobra.NoArgs, RunE: Help}
		root.AddCommand(&cobra.Command{Use: "do", RunE: func(cmd *cobra.Command, _ []string) error { return PrintLine(cmd, nil, "x") }})
		return root
	}}
	for _, args := range []string{"", "--help", "help do", "do --help", "--version", "do"} {
		var problems bytes.Buffer
		code := p.Run(t.Context(), strings.Fields(args), strings.NewReader(""), fullDisk{}, &problems)
		require.Equal(t, 1, code, args)
		require.Equal(t, "prog: write /dev/full: no space\n", problems.String(), args)
	}
}
