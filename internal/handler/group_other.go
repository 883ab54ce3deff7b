//go:build !unix

package handler

import "os/exec"

// shell runs a command.
var shell = []string{"cmd", "/C"}

// ownGroup leaves a command alone: only its own process is killed when it takes too long.
func ownGroup(*exec.Cmd) {}
