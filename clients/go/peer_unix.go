//go:build unix

package client

import (
	"io/fs"
	"syscall"
)

func ownerOf(info fs.FileInfo) (user, group int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
