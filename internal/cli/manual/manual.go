// Package manual writes the man pages of a program from its commands. The generator of
// cobra takes descriptions for Markdown, shows no kinds of values, and needs two more
// modules.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Write writes a page for each command into a directory, which it makes if needed.
// version and date are in the footers.
func Write(root *cobra.Command, dir, version string, date time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, cmd := range All(root) {
		name := filepath.Join(dir, title(cmd)+".1")
		if err := os.WriteFile(name, []byte(Page(cmd, version, date)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// All returns a command and the commands below it that users see.
func All(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, All(c)...)
		}
	}
	return all
}

// title returns the name of a page, as in failaware-config-check.
func title(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page returns the page of a command, for man(7).
func Page(cmd *cobra.Command, version string, date time.Time) string {
	p := &page{}
	root := cmd.Root().Name()
	p.line(".TH %q 1 %q %q %q", strings.ToUpper(title(cmd)), date.UTC().Format(time.DateOnly), root+" "+version, root)
	p.line(".SH NAME")
	p.line("%s \\- %s", escape(title(cmd)), escape(cmd.Short))
	p.line(".SH SYNOPSIS")
	p.line("%s", escape(cmd.UseLine()))
	p.line(".SH DESCRIPTION")
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	p.text(text)
	p.commands(cmd)
	p.flags("OPTIONS", cmd.NonInheritedFlags())
	p.flags("OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		p.line(".SH EXAMPLES")
		p.verbatim(cmd.Example)
	}
	p.related(cmd)
	return p.String()
}

type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// text writes paragraphs. One that begins with a space is shown as it is.
func (p *page) text(text string) {
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			p.line(".PP")
		}
		if strings.HasPrefix(paragraph, " ") {
			p.verbatim(paragraph)
			continue
		}
		p.line("%s", escape(paragraph))
	}
}

func (p *page) verbatim(text string) {
	p.line(".nf\n%s\n.fi", escape(strings.Trim(text, "\n")))
}

func (p *page) commands(cmd *cobra.Command) {
	header := ".SH COMMANDS"
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			p.line("%s\n.TP\n.B %s\n%s", header, escape(c.Name()), escape(c.Short))
			header = ""
		}
	}
}

func (p *page) flags(header string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.line(".SH %s", header)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		head := `\fB` + escape("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			head = `\fB` + escape("-"+f.Shorthand) + `\fR, ` + head
		}
		if kind != "" {
			head += ` \fI` + escape(kind) + `\fR`
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		p.line(".TP\n%s\n%s", head, escape(usage))
	})
}

// related names the pages of the commands above and below.
func (p *page) related(cmd *cobra.Command) {
	var names []string
	add := func(c *cobra.Command) { names = append(names, `\fB`+escape(title(c))+`\fR(1)`) }
	if cmd.HasParent() {
		add(cmd.Parent())
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			add(c)
		}
	}
	if len(names) > 0 {
		p.line(".SH SEE ALSO\n%s", strings.Join(names, ",\n"))
	}
}

// escape keeps roff from taking a part of a text for a command.
func escape(text string) string {
	text = special.Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// Hyphens are those of commands, which users copy.
var special = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\t", "    ")
