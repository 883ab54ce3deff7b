//go:build !unix

package main

import "io"

// hear begins to hear a reader. Nobody knows whether something waits there.
func hear(r io.Reader) *hearing {
	h := newHearing()
	go h.follow(r)
	return h
}
