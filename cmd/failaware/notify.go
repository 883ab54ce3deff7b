package main

import (
	"net"
	"os"
)

// notifySystemd tells systemd how the service is, if it asked for that: see
// sd_notify(3). What goes wrong is of no concern to the node.
func notifySystemd(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	if path[0] == '@' {
		path = "\x00" + path[1:] // Linux's abstract names
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	_, _ = c.Write([]byte(state))
	_ = c.Close()
}
