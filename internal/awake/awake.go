// Package awake keeps the processors of a Linux machine from sleeping when they are
// idle, so that what wakes a process up finds a processor that runs, with warm
// caches. It asks the kernel's power management for it (PM QoS): who holds Device
// open has said how late, in microseconds, the processors may be when there is work,
// and the kernel keeps to the lowest of what all holders have said.
package awake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// Device is where the kernel takes requests: a 32-bit integer in the machine's byte
// order, which counts until the file is closed. A process that dies closes it.
const Device = "/dev/cpu_dma_latency"

// driverFile names what the kernel puts idle processors to sleep with.
const driverFile = "/sys/devices/system/cpu/cpuidle/current_driver"

// Request is a request that the kernel heeds until [Request.Close]. Requests know
// nothing of each other, so each user of a process can have one.
type Request struct{ file *os.File }

// Hold asks for processors that never sleep. Its error names the device, and what is
// missing: it matches [fs.ErrPermission], [fs.ErrNotExist], or, on other systems than
// Linux, [errors.ErrUnsupported].
func Hold() (*Request, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("%s is a device of Linux only: %w", Device, errors.ErrUnsupported)
	}
	return hold(Device, fs.ModeCharDevice)
}

// HoldFile is for tests: any file stands for the device.
func HoldFile(path string) (*Request, error) { return hold(path, 0) }

// hold wants a file of the given kind, because whoever writes to the device where
// there is none, as in a container, leaves an ordinary file that has no effect.
func hold(path string, kind fs.FileMode) (*Request, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // close-on-exec, as all that package os opens
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: this kernel has no such device, or the container was not given it", err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w: that takes root, or a udev rule that lets a group of this user write to it", err)
	case err != nil:
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&kind != kind {
		err = fmt.Errorf("%s is not a device, and the kernel does not see what is written there: remove it", path)
	}
	if err == nil {
		_, err = f.Write(binary.NativeEndian.AppendUint32(nil, 0))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Request{f}, nil
}

// Close takes the request back. A nil request has nothing to take back.
func (r *Request) Close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}

// Doubt says why a request that is held may have no effect on this machine; empty if
// nothing is known against it.
func Doubt() string { return doubt(driverFile) }

func doubt(path string) string {
	name, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(name)) != "none" {
		return ""
	}
	return "the kernel has no cpuidle driver (" + path + "), and then halts idle processors whatever is asked for"
}
