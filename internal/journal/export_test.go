package journal

import "os"

// System returns a directory of the operating system as [Open] uses it, without its lock.
func System(dir string) Disk { return system{dir} }

// SystemFile returns a file of the operating system as [Open] uses it.
func SystemFile(f *os.File) File { return systemFile{f, flush} }

// FailingFile is a [SystemFile] whose flushes fail with an error of the operating system.
func FailingFile(f *os.File, err error) File {
	return systemFile{f, func(*os.File) error { return err }}
}

// Classify is what errors of the operating system go through.
var Classify = classify
