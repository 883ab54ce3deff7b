//go:build unix

package trust

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFile does not follow a link, and does not wait for a pipe's other end.
func openFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, perm)
	if errors.Is(err, unix.ELOOP) {
		if info, e := os.Lstat(path); e == nil && info.Mode().Type() == fs.ModeSymlink {
			return nil, &fs.PathError{Op: "open", Path: path, Err: linkError{}}
		}
	}
	return f, err
}

// openLinked does not wait for a pipe's other end.
func openLinked(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// linkError is [unix.ELOOP] for a file that is itself a link: the system speaks of too many
// levels of links.
type linkError struct{}

func (linkError) Error() string { return "it is a symbolic link, and links are not followed" }

func (linkError) Is(target error) bool { return target == unix.ELOOP }

func ownerOf(info fs.FileInfo) (user, group int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
