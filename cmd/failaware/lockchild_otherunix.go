//go:build unix && !linux

package main

import "syscall"

func groupOfItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
