package trust

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
)

// Peer refuses the process at the other end of a connected unix socket, unless its
// user is the one of this process or root, or unless only that user, the one of
// this process and root can have put the socket at its path. Errors about users
// match [ErrUntrusted].
func Peer(c net.Conn, path string) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("not a unix socket")
	}
	user, known, err := User(u)
	if err != nil {
		return err
	}
	if !known || mine(user) {
		return nil
	}
	if err := Dir(filepath.Dir(path), user); err != nil {
		return fmt.Errorf("user %d answers, and is not to be trusted there: %w", user, err)
	}
	return nil
}

// User returns the user whose process is at the other end of a unix socket. It is
// not known on systems that do not tell.
func User(c *net.UnixConn) (user int, known bool, err error) {
	user, known, err = peerUser(c)
	if err != nil {
		err = fmt.Errorf("cannot tell which user is at the other end: %w", err)
	}
	return user, known, err
}
