package journal

import (
	"os"

	"github.com/failaware/failaware/internal/durable"
)

// System returns a directory of the operating system as [Open] uses it, without its lock.
func System(dir string) Disk {
	names, err := durable.OpenDir(dir)
	if err != nil {
		panic(err)
	}
	return system{dir, names}
}

// RenameClosed has journals close files before they rename them, as some systems require it, until
// the function is called that it returns.
func RenameClosed() (restore func()) {
	before := renamesOpen
	renamesOpen = false
	return func() { renamesOpen = before }
}

// SystemFile returns a file of the operating system as [Open] uses it.
func SystemFile(f *os.File) File { return systemFile{f, flush} }

// FailingFile is a [SystemFile] whose flushes fail with an error of the operating system.
func FailingFile(f *os.File, err error) File {
	return systemFile{f, func(*os.File) error { return err }}
}

// Classify is what errors of the operating system go through.
var Classify = classify
