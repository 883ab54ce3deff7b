package durable

import "path/filepath"

// Abs returns the absolute form of a path, which stays right when the process changes its
// working directory. The empty path stays as it is, and so does one in a working directory
// that is gone.
func Abs(path string) string {
	if path == "" {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}
