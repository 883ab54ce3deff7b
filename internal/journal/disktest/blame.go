package disktest

import (
	"errors"
	"strings"

	"github.com/failaware/failaware/internal/journal"
)

// Blames reports whether an error of a journal on a [Disk] names a file as the one that is
// wrong. Where nothing that is left tells the number of a lost file, or which of two files is
// the right one, the error says which others it may be.
func Blames(err error, name string) bool {
	path := (*Disk)(nil).Path(name)
	if d, ok := errors.AsType[*journal.DamagedError](err); ok {
		return d.Path == path && d.Offset >= 0 || strings.HasSuffix(d.What, "another journal than "+path)
	}
	m, ok := errors.AsType[*journal.MissingError](err)
	switch {
	case !ok:
		return false
	case m.Path == path:
		return true
	}
	kind, number, _ := strings.Cut(name, "-") // numbers have one length
	_, named, _ := strings.Cut(m.Path, "-")
	switch {
	case kind == "log":
		return strings.Contains(m.Or, "an earlier file of the log") && number < named
	case strings.Contains(m.Or, "a snapshot of more records"):
		return number >= named
	}
	return kind == "snapshot" && m.Or == "a snapshot"
}
