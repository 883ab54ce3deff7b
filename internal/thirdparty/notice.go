package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// files returns what this command writes, by the names of the files.
func files(root string) (map[string][]byte, error) {
	modules, err := linked(root)
	if err != nil {
		return nil, err
	}
	licences := make([]licence, len(modules))
	var errs []error
	for i, m := range modules {
		if licences[i], err = licenceOf(m); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	text, err := notice(modules, licences)
	if err != nil {
		return nil, err
	}
	list, err := sbom(modules, licences)
	return map[string][]byte{noticeFile: text, sbomFile: list}, err
}

// notice returns the text of the notice.
func notice(modules []*module, licences []licence) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `Third-party software in the programs of failaware

The programs are built for %s. They link the modules below, some of them on some
systems only, and embed uPlot. This file is written by "go generate ./internal/thirdparty".
`, strings.Join(systems, ", "))
	for _, program := range programs {
		fmt.Fprintf(&b, "\n%s:\n\n", program)
		table := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
		for i, m := range modules {
			if slices.Contains(m.programs, program) {
				fmt.Fprintf(table, "  %s\t%s\t%s\n", m.Path, m.Version, licences[i].id)
			}
		}
		if err := table.Flush(); err != nil {
			return nil, err
		}
	}
	writeTexts(&b, modules, licences)
	return b.Bytes(), nil
}

// writeTexts writes each licence text once, with the modules that it covers.
func writeTexts(b *bytes.Buffer, modules []*module, licences []licence) {
	written := map[licence]bool{}
	for i := range modules {
		l := licences[i]
		if written[l] {
			continue
		}
		written[l] = true
		fmt.Fprintf(b, "\n%s\n", strings.Repeat("=", 80))
		for j, m := range modules {
			if licences[j] == l {
				fmt.Fprintln(b, strings.TrimSpace(m.Path+" "+m.Version))
			}
		}
		fmt.Fprintf(b, "Licence: %s\n\n%s\n", l.id, tidy(l.text))
		if l.more != "" {
			fmt.Fprintf(b, "\nNotice:\n\n%s\n", tidy(l.more))
		}
	}
}

// tidy removes empty lines around a text and white space at the ends of its lines.
func tidy(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \t\r\n\f"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
