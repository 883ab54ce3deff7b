//go:build !unix

package durable

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file has the access list of its directory.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
