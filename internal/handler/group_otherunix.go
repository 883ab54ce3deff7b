//go:build unix && !linux

package handler

import "syscall"

// dieWithNode does nothing: a command outlives a node that is killed.
func dieWithNode(*syscall.SysProcAttr) {}
