// Package awake keeps idle processors of a Linux machine from sleeping, so that a
// process that is woken finds a running processor, with warm caches. It uses a request
// to the kernel's power management (PM QoS): a process that holds Device open has
// written the longest tolerable wake-up latency, in microseconds, and the kernel keeps
// the lowest of all requests.
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

// Device takes requests: a 32-bit integer in the machine's byte order, which counts
// until the file is closed. The end of a process closes it.
const Device = "/dev/cpu_dma_latency"

// driverFile names the kernel's driver for idle processors.
const driverFile = "/sys/devices/system/cpu/cpuidle/current_driver"

// Request is a request that the kernel keeps until [Request.Close]. Requests are
// independent, so each user of a process can have one.
type Request struct{ file *os.File }

// Hold requests processors that never sleep. Its error names the device and the missing
// condition: it matches [fs.ErrPermission], [fs.ErrNotExist], or, on systems other than
// Linux, [errors.ErrUnsupported].
func Hold() (*Request, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("%s is a device of Linux only: %w", Device, errors.ErrUnsupported)
	}
	return hold(Device, fs.ModeCharDevice)
}

// HoldFile is for tests: any file can replace the device.
func HoldFile(path string) (*Request, error) { return hold(path, 0) }

// hold requires a file of the given kind: without the device, as in a container, a
// write would create an ordinary file without effect.
func hold(path string, kind fs.FileMode) (*Request, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // close-on-exec, like all files of package os
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: this kernel has no such device, or the container has no access to it", err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w: root may write to it, or a group of this user with a udev rule", err)
	case err != nil:
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&kind != kind {
		err = fmt.Errorf("%s is not a device, and writing to it has no effect: remove it", path)
	}
	if err == nil {
		_, err = f.Write(binary.NativeEndian.AppendUint32(nil, 0))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Request{f}, nil
}

// Close withdraws the request. A nil request has no effect.
func (r *Request) Close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}

// Doubt returns a reason why the request may have no effect on this machine, or an
// empty string if none is known.
func Doubt() string { return doubt(driverFile) }

func doubt(path string) string {
	name, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(name)) != "none" {
		return ""
	}
	return "the kernel has no cpuidle driver (" + path + "), and then halts idle processors whatever is asked for"
}
