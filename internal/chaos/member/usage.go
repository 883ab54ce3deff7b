package member

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/failaware/failaware/internal/chaos/oracle"
)

// sample logs the resources of the process, and reports how late the poller was.
func (m *member) sample(r *Report) {
	time.Sleep(3 * pollEvery) // let a late poll end, and another one follow
	r.Late = m.late.Swap(0)
	runtime.GC()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	now := Now()
	m.log.write(oracle.Record{Kind: oracle.Sample, From: now, To: now, Goroutines: runtime.NumGoroutine(),
		Files: count("/proc/self/fd"), Live: int64(heap.HeapAlloc), Resident: resident(), Late: r.Late})
}

// profile writes a profile of the heap beside the log.
func (m *member) profile() error {
	f, err := os.Create(m.cfg.Log + ".heap")
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.Lookup("heap").WriteTo(f, 0)
}

// count returns the number of entries of a directory.
func count(dir string) int {
	list, _ := os.ReadDir(dir)
	return len(list)
}

// resident returns the resident memory of the process in bytes, without file mappings.
func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	var size, pages, shared int64
	if err == nil {
		_, _ = fmt.Sscan(string(b), &size, &pages, &shared)
	}
	return (pages - shared) * int64(os.Getpagesize())
}
