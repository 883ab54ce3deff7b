package main

import "os"

// self returns the path of this program, which stays the same program when its file is
// replaced or removed.
func self() (string, error) { return "/proc/self/exe", nil }

// takeName gives this process, which was started by the path of self, its usual name, which
// ps shows.
func takeName() { _ = os.WriteFile("/proc/self/comm", []byte("failaware"), 0) }
