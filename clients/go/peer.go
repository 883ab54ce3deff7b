package client

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrUntrusted is why nothing is asked at a unix socket: a user answers there who is neither
// root nor the one of this process, and others than those three can have put the socket at its
// path.
var ErrUntrusted = errors.New("another user controls it")

// checkPeer refuses the process at the other end of a connection as [ErrUntrusted] says. Some
// systems do not tell whose process it is.
func checkPeer(c net.Conn, path string) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("failaware: not a unix socket")
	}
	user, known, err := peerUser(u)
	if err != nil {
		return fmt.Errorf("failaware: the socket %s: cannot tell which user answers: %w", path, err)
	}
	if !known || mine(user) {
		return nil
	}
	if err := checkDir(filepath.Dir(path), user); err != nil {
		return fmt.Errorf("failaware: the socket %s: user %d answers, and is not to be trusted there: %w", path, user, err)
	}
	return nil
}

// mine reports whether a user is the one of this process, or root.
func mine(user int) bool { return user == os.Geteuid() || user == 0 }

// checkDir refuses a directory in which users other than root, the user of this process and
// also may put or replace files, there or in a directory above it, also on the way of links.
func checkDir(path string, also int) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for _, end := range []string{path, real} {
		for at := end; ; at = filepath.Dir(at) {
			if err := checkOneDir(at, at != end, also); err != nil {
				return err
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return nil
}

// checkOneDir refuses a directory. In one such as /tmp, users cannot remove the files of
// others: it is accepted above the directory that is looked for.
func checkOneDir(path string, above bool, also int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner, group, known := ownerOf(info)
	mode := info.Mode()
	link := mode.Type() == fs.ModeSymlink
	writable := mode.Perm() & 0o022
	if ownGroup(group) {
		writable &= 0o002
	}
	switch {
	case !link && !info.IsDir():
		return fmt.Errorf("%s: it is not a directory", path)
	case !known:
		return nil
	case !mine(owner) && (link || owner != also):
		return fmt.Errorf("%s: %w: user %d owns it", path, ErrUntrusted, owner)
	case !link && writable != 0 && !(above && mode&fs.ModeSticky != 0):
		return fmt.Errorf("%s: %w: its mode %#o lets others write", path, ErrUntrusted, mode.Perm())
	}
	return nil
}

// ownGroup reports whether a group is for the user of this process alone, as systems make one
// for each user, with the same number: the machine's files name no other member.
func ownGroup(group int) bool {
	if group != os.Geteuid() || group == 0 {
		return false
	}
	number := strconv.Itoa(group)
	groups, _ := os.ReadFile("/etc/group") // without one there are no names, and so no members
	users, _ := os.ReadFile("/etc/passwd")
	name := ""
	for line := range strings.Lines(string(users)) { // name:password:user:group:…
		switch f := strings.Split(line, ":"); {
		case len(f) < 4:
		case f[2] == number:
			name = f[0]
		case f[3] == number:
			return false
		}
	}
	for line := range strings.Lines(string(groups)) { // name:password:group:member,…
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) == 4 && f[2] == number && f[3] != "" && f[3] != name {
			return false
		}
	}
	return true
}
