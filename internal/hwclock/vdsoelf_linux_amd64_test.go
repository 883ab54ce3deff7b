package hwclock

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// thisVDSO returns the vDSO of this process.
func thisVDSO(t *testing.T) image {
	aux, err := unix.Auxv()
	require.NoError(t, err)
	for _, entry := range aux {
		if entry[0] == 33 {
			return vdsoImage(entry[1])
		}
	}
	t.Skip("this process has no vDSO")
	return nil
}

// The functions of the vDSO are where package debug/elf finds them.
func TestFunctionsAreFoundAsByTheStandardLibrary(t *testing.T) {
	m := thisVDSO(t)
	f, err := elf.NewFile(bytes.NewReader(m))
	require.NoError(t, err)
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	var load *elf.Prog
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			load = p
			break
		}
	}
	functions := 0
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		functions++
		offset, found := m.function(s.Name)
		require.True(t, found, s.Name)
		require.Equal(t, load.Off+s.Value-load.Vaddr, offset, s.Name)
		_, found = m.function(s.Name[:len(s.Name)-1])
		require.False(t, found, "half a name")
	}
	require.Positive(t, functions)
}

// Damage is read as something else, and never crashes.
func TestDamagedImagesAreRead(t *testing.T) {
	m := thisVDSO(t)
	for range 20_000 {
		b := image(bytes.Clone(m[:rand.IntN(len(m)+1)]))
		for range rand.IntN(4) {
			if len(b) > 0 {
				b[rand.IntN(min(len(b), 1<<rand.IntN(16)))] = byte(rand.Uint32())
			}
		}
		b.function("__vdso_clock_gettime")
	}
	program, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	_, found := image(program).function("__vdso_clock_gettime")
	require.False(t, found)
}
