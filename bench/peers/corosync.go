package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// cpgMember is a process in a closed process group of corosync, by its C library.
type cpgMember struct {
	unable
	c      *child
	handle uint64
}

// The library, and what is needed of its header corosync/cpg.h.
const (
	cpgLibrary = "libcpg.so.4"

	csOK           = 1
	csTryAgain     = 6
	csDispatchWait = 3 // CS_DISPATCH_BLOCKING
	cpgAgreed      = 2
	cpgSafe        = 3
)

type cpgName struct {
	length uint32
	value  [128]byte
}

type cpgAddress struct {
	node uint32
	_    [2]uint32 // its process, and why it is named
}

type ioVector struct {
	base   *byte
	length uintptr
}

var (
	cpgInitialize func(handle *uint64, callbacks *[2]uintptr) int32
	cpgJoin       func(handle uint64, name *cpgName) int32
	cpgDispatch   func(handle uint64, kind int32) int32
	cpgMulticast  func(handle uint64, guarantee int32, vector *ioVector, count uint32) int32
	cpgFinalize   func(handle uint64) int32
)

func loadCPG() error {
	library, err := purego.Dlopen(cpgLibrary, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return err
	}
	purego.RegisterLibFunc(&cpgInitialize, library, "cpg_initialize")
	purego.RegisterLibFunc(&cpgJoin, library, "cpg_join")
	purego.RegisterLibFunc(&cpgDispatch, library, "cpg_dispatch")
	purego.RegisterLibFunc(&cpgMulticast, library, "cpg_mcast_joined")
	purego.RegisterLibFunc(&cpgFinalize, library, "cpg_finalize")
	return nil
}

func startCPG(c *child) (member, error) {
	if err := loadCPG(); err != nil {
		return nil, err
	}
	m := &cpgMember{c: c}
	callbacks := &[2]uintptr{
		purego.NewCallback(func(_ uint64, _ *cpgName, _, _ uintptr, message *byte, length uintptr) {
			c.deliver(unsafe.Slice(message, int(length)))
		}),
		purego.NewCallback(func(_ uint64, _ *cpgName, list *cpgAddress, n uintptr, _ *cpgAddress, _ uintptr, _ *cpgAddress, _ uintptr) {
			members := []int{}
			for _, a := range unsafe.Slice(list, int(n)) {
				members = append(members, int(a.node))
			}
			slices.Sort(members)
			c.saw(0, members)
		}),
	}
	go m.live(callbacks)
	return m, nil
}

// live joins the group, again when the daemon has ended, and takes what comes.
func (m *cpgMember) live(callbacks *[2]uintptr) {
	runtime.LockOSThread()
	name := &cpgName{length: uint32(len("peers"))}
	copy(name.value[:], "peers")
	for ; ; time.Sleep(20 * time.Millisecond) {
		if cpgInitialize(&m.handle, callbacks) != csOK {
			continue
		}
		joined := int32(csTryAgain)
		for joined == csTryAgain {
			joined = cpgJoin(m.handle, name)
			time.Sleep(time.Millisecond)
		}
		if joined == csOK {
			cpgDispatch(m.handle, csDispatchWait)
		}
		cpgFinalize(m.handle)
	}
}

func (m *cpgMember) send(payload []byte, flavour string) error {
	guarantee := int32(cpgAgreed)
	if flavour == "safe" {
		guarantee = cpgSafe
	}
	v := &ioVector{&payload[0], uintptr(len(payload))}
	for {
		switch code := cpgMulticast(m.handle, guarantee, v, 1); code {
		case csOK:
			return nil
		case csTryAgain: // its queue is full
			time.Sleep(100 * time.Microsecond)
		default:
			return fmt.Errorf("cpg_mcast_joined: error %d", code)
		}
	}
}

// corosyncDaemon returns the command of a daemon. Each has a mount namespace of its own,
// in which its directories are.
func corosyncDaemon(g *group, id int) ([]string, error) {
	dir := g.nodes[id-1].dir
	var text strings.Builder
	text.WriteString("totem {\n version: 2\n cluster_name: peers\n transport: knet\n crypto_cipher: none\n crypto_hash: none\n")
	if g.tight {
		text.WriteString(" token: 60\n token_coefficient: 0\n token_retransmits_before_loss_const: 1\n consensus: 72\n join: 30\n merge: 50\n")
	}
	text.WriteString("}\nlogging {\n to_stderr: yes\n to_syslog: no\n}\nnodelist {\n")
	for i := range g.count() {
		fmt.Fprintf(&text, " node {\n  name: n%d\n  nodeid: %d\n  ring0_addr: %s\n }\n", i+1, i+1, g.net.host(i+1))
	}
	text.WriteString("}\n")
	if g.use == forMessages { // it is faster so
		text.WriteString("system {\n sched_rr: no\n}\n")
	}
	path, state := filepath.Join(dir, "corosync.conf"), filepath.Join(dir, "corosync")
	err := errors.Join(os.MkdirAll(state, 0o700), os.WriteFile(path, []byte(text.String()), 0o600))
	return []string{"sh", "-c", fmt.Sprintf("mount -t tmpfs none /run && mount --bind '%s' /var/lib/corosync && exec corosync -f -c '%s'", state, path)}, err
}
