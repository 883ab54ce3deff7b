//go:build !unix

package main

import "io"

// openInbox starts to read r. This system cannot tell whether a read would block.
func openInbox(r io.Reader) *inbox {
	in := newInbox()
	go in.readFrom(r)
	return in
}
