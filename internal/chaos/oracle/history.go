package oracle

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

// Violation is a contradiction between answers.
type Violation struct {
	Rule string
	Text string
}

func (v Violation) String() string { return v.Rule + ": " + v.Text }

// History has the logs of all processes of a group.
type History struct{ Logs []*Log }

// Name returns the name of the log of a process.
func Name(node, process int) string { return fmt.Sprintf("node-%d.%d.log", node, process) }

// Load reads the logs in a directory, which must have a record.
func Load(dir string) (*History, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	h, records := &History{}, 0
	for _, f := range files {
		if logs, _ := filepath.Match("node-*.log", f.Name()); !logs {
			continue
		}
		l, path := &Log{}, filepath.Join(dir, f.Name())
		if _, err := fmt.Sscanf(f.Name(), "node-%d.%d.log", &l.Node, &l.Process); err != nil {
			return nil, fmt.Errorf("oracle: %s: %w", path, err)
		}
		if err := l.read(path); err != nil {
			return nil, fmt.Errorf("oracle: %s: %w", path, err)
		}
		h.Logs = append(h.Logs, l)
		records += len(l.Records)
	}
	if records == 0 {
		return nil, fmt.Errorf("oracle: %s has no logs of nodes with a record, so there is nothing to judge", dir)
	}
	slices.SortFunc(h.Logs, func(a, b *Log) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Process, b.Process)) })
	return h, nil
}

// read reads the records of a log. The last line of a process that was killed may be
// incomplete.
func (l *Log) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var r Record
		if err := json.Unmarshal(bytes.TrimSpace(line), &r); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		l.Records = append(l.Records, r)
	}
}

// incarnation returns the text of an incarnation.
func incarnation(node int, boot uint64) string { return fmt.Sprintf("%d/%016x", node, boot) }

// groups returns the names of the groups in a history.
func (h *History) groups() (names []string) {
	seen := map[string]bool{}
	for _, l := range h.Logs {
		for i := range l.Records {
			if g := l.Records[i].Group; g != "" && !seen[g] {
				seen[g] = true
				names = append(names, g)
			}
		}
	}
	slices.Sort(names)
	return names
}

// records yields the records of a kind of a group, with their logs.
func (h *History) records(group, kind string) iter.Seq2[*Log, *Record] {
	return func(yield func(*Log, *Record) bool) {
		for _, l := range h.Logs {
			for r := range l.records(group, kind) {
				if !yield(l, r) {
					return
				}
			}
		}
	}
}

// records yields the records of a kind of a group.
func (l *Log) records(group, kind string) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for i := range l.Records {
			if r := &l.Records[i]; r.Kind == kind && r.Group == group && !yield(r) {
				return
			}
		}
	}
}
