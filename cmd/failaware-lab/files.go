package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// checkPicture returns an error if a flag names a file that is not an SVG file.
// Without a file it returns nil.
func checkPicture(flag, path string) error {
	if path != "" && !strings.EqualFold(filepath.Ext(path), ".svg") {
		return fmt.Errorf("--%s: the name %q must end in .svg", flag, path)
	}
	return nil
}

// openInput opens a file, or the standard input if path is "-".
func openInput(stdin io.Reader, path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(path)
}

// writeFile writes a file, which it creates or replaces.
func writeFile(path string, render func(io.Writer) error) error {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
