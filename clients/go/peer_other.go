//go:build !linux && !darwin && !freebsd

package client

import "net"

func peerUser(*net.UnixConn) (user int, known bool, err error) { return 0, false, nil }
