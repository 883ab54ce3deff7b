// Package trust decides which files, directories and processes of this machine a
// program may rely on: those that only its own user and root control.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ErrUntrusted is the reason for which files, directories and processes are refused
// that other users control.
var ErrUntrusted = errors.New("another user controls it")

// Permissions of users who are not the owner.
const (
	writable fs.FileMode = 0o022
	readable fs.FileMode = 0o044
	byOthers fs.FileMode = 0o004 // readable by users who are not in its group either
)

// Privacy says what other users may do with a file.
type Privacy int

const (
	Public Privacy = iota // they may read it, and not write it
	// Private: they may neither read nor write it. Root, who can read everything, may
	// let a group read its own file: so secrets are handed to services and containers.
	Private
	Foreign // it may be theirs: its content is checked otherwise
)

// Open opens a file as [os.OpenFile] does. It refuses a file that is not regular,
// without waiting for the other end of a pipe, a symbolic link, a file that neither
// the user of this process nor root owns, and one that other users may change or,
// if it is private, read. Errors about users match [ErrUntrusted].
func Open(path string, flag int, perm fs.FileMode, p Privacy) (*os.File, error) {
	f, err := openFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return checked(f, p)
}

// OpenRegular opens a file to read it, whoever owns it or may change it, and follows links. It
// refuses a file that is not regular, without waiting for the other end of a pipe.
func OpenRegular(path string) (*os.File, error) {
	f, err := openLinked(path)
	if err != nil {
		return nil, err
	}
	return checked(f, Foreign)
}

// checked returns a file that [Check] does not refuse, and closes another one.
func checked(f *os.File, p Privacy) (*os.File, error) {
	if err := Check(f, p); err != nil {
		_ = f.Close() // nothing was written
		return nil, &fs.PathError{Op: "open", Path: f.Name(), Err: err}
	}
	return f, nil
}

// Check refuses an open file as [Open] does.
func Check(f *os.File, p Privacy) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	owner, group, known := ownerOf(info)
	mode := info.Mode().Perm()
	granted := mode &^ alone(mode, group)
	switch {
	case !known || p == Foreign:
		return nil // the system has no such owners, or they do not matter
	case !mine(owner):
		return fmt.Errorf("%w: user %d owns it", ErrUntrusted, owner)
	case granted&writable != 0:
		return fmt.Errorf("%w: its mode %#o lets others write", ErrUntrusted, mode)
	case p == Private && granted&secret(owner) != 0:
		return fmt.Errorf("%w: its mode %#o lets others read", ErrUntrusted, mode)
	}
	return nil
}

// secret returns the permissions to read that a private file of a user must not have.
func secret(owner int) fs.FileMode {
	if owner == 0 && os.Geteuid() != 0 {
		return byOthers
	}
	return readable
}

// mine reports whether a user is the one of this process, or root.
func mine(user int) bool { return user == os.Geteuid() || user == 0 }

// alone returns those permissions that a group has whose only member is the user of this
// process. That may be the group with the user's own number, as systems make one for each user.
// Kubernetes gives it what the owner has (fsGroup). The group of root is no such group:
// containers of any user may be in it.
func alone(mode fs.FileMode, group int) fs.FileMode {
	const all = 0o070
	if user := os.Geteuid(); mode&all != 0 && group == user && user != 0 && !hasOthers(group, user) {
		return all
	}
	return 0
}

// Dir refuses a directory in which users other than root, the user of this process
// and also may put or replace files, there or in a directory above it. A directory
// such as /tmp, in which users cannot remove the files of others, is refused itself
// and accepted above. A symbolic link on the path must belong to root or the user of
// this process.
func Dir(path string, also ...int) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if err := checkChain(path, also); err != nil || real == path {
		return err
	}
	return checkChain(real, also)
}

// checkChain checks a directory and those above it.
func checkChain(path string, also []int) error {
	for at := path; ; at = filepath.Dir(at) {
		if err := checkDir(at, at != path, also); err != nil {
			return err
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func checkDir(path string, above bool, also []int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner, group, known := ownerOf(info)
	mode := info.Mode()
	granted := mode.Perm() &^ alone(mode, group)
	link := mode.Type() == fs.ModeSymlink
	switch {
	case !link && !info.IsDir():
		return fmt.Errorf("%s: it is not a directory", path)
	case !known:
		return nil
	case !mine(owner) && (link || !slices.Contains(also, owner)):
		return fmt.Errorf("%s: %w: user %d owns it", path, ErrUntrusted, owner)
	case !link && granted&writable != 0 && !above && mode&fs.ModeSticky != 0:
		return fmt.Errorf("%s: %w: its mode %#o lets others add files; use a directory of your own below it", path, ErrUntrusted, 0o1000|mode.Perm())
	case !link && granted&writable != 0 && !(above && mode&fs.ModeSticky != 0):
		return fmt.Errorf("%s: %w: its mode %#o lets others write", path, ErrUntrusted, mode.Perm())
	}
	return nil
}
