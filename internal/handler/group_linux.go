package handler

import "syscall"

// dieWithNode has the kernel kill a command when the thread that has started it ends, as it does
// with the node.
func dieWithNode(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
