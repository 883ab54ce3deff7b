package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/timed"
)

// MaxMembers is how many members are kept. One that still answers is enough, for members
// introduce members.
const MaxMembers = 16

// Member is a node of the group, and where it was heard last.
type Member struct {
	ID   timed.NodeID
	Addr netip.AddrPort
}

// membersKind is the kind of record of the file with the members.
var membersKind = durable.Kind{Name: "node-members", Version: 1}

func (d *Dir) membersPath() string {
	return filepath.Join(filepath.Dir(d.path), fmt.Sprintf("node-%v.members", d.id))
}

// ReadMembers returns the members that were kept; none if there is no file, or on nil.
// Nothing rests on them, so a node goes on after an error, which names the file.
func (d *Dir) ReadMembers() ([]Member, error) {
	if d == nil {
		return nil, nil
	}
	b, err := durable.Read(d.membersPath(), membersKind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Member
	for line := range strings.Lines(string(b)) {
		id, addr, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		m, err := parseMember(id, addr)
		if err != nil || len(list) == MaxMembers {
			return nil, &durable.DamagedError{Path: d.membersPath(), What: fmt.Sprintf("line %d is no member, or one too many", len(list)+1)}
		}
		list = append(list, m)
	}
	return list, nil
}

func parseMember(id, addr string) (m Member, err error) {
	if m.ID, err = timed.ParseNodeID(id); err == nil {
		m.Addr, err = netip.ParseAddrPort(addr)
	}
	return m, err
}

// KeepMembers writes the first [MaxMembers] members down in place of all former ones, at
// [Dir.Begin] at the earliest. On nil, and when the directory is closed, it does nothing.
func (d *Dir) KeepMembers(list []Member) error {
	if d == nil {
		return nil
	}
	var b strings.Builder
	for _, m := range list[:min(len(list), MaxMembers)] {
		fmt.Fprintf(&b, "%v %v\n", m.ID, m.Addr)
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	d.members = []byte(b.String())
	if !d.writable() {
		return nil // Begin has yet to, or another process may have the directory
	}
	return d.writeMembers()
}

// writable reports whether Begin has written the files, and Close has not come.
func (d *Dir) writable() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun && d.lock != nil
}

// writeMembers writes the members down. The caller holds keeping.
func (d *Dir) writeMembers() error { return d.put(d.membersPath(), membersKind, d.members) }
