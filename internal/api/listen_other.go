//go:build !unix

package api

import "net"

func lockDir(string) (unlock func()) { return func() {} }

func bind(path string) (*net.UnixListener, error) {
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}
