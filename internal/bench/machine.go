package bench

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine describes the machine of a benchmark and its load.
type Machine struct {
	Cores  int    `json:"cores"`
	CPU    string `json:"cpu,omitempty"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	System string `json:"system"`
	// Load is the load average of the system over one minute before the benchmark.
	Load string `json:"load_before,omitempty"`
}

// String formats the machine in one line.
func (m Machine) String() string {
	return fmt.Sprintf("%d cores (%s), %s, kernel %s, %s, load before %s", m.Cores, cmp.Or(m.CPU, "unknown"), m.System,
		cmp.Or(m.Kernel, "unknown"), m.Go, cmp.Or(m.Load, "unknown"))
}

// ThisMachine describes this machine.
func ThisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: firstLine("/proc/sys/kernel/osrelease")}
	m.Load, _, _ = strings.Cut(firstLine("/proc/loadavg"), " ")
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	return m
}

// firstLine returns the first line of a file, or "" if there is none.
func firstLine(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}
