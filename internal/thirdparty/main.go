// Command thirdparty writes THIRD_PARTY.txt: the modules that are linked into the
// programs, with their licences. It refuses licences with conditions for users of this
// project. It also writes sbom.cdx.json, the same as a software bill of materials for
// programs (CycloneDX). Run it by go generate.
//
// It reads licence files itself instead of using go-licenses, which adds scores of
// modules to go.mod, covers one operating system at a time, and guesses licences by
// similarity.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../..

// noticeFile is the name of the notice in the root of the project.
const noticeFile = "THIRD_PARTY.txt"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: thirdparty ROOT")
		os.Exit(2)
	}
	root := os.Args[1]
	all, err := files(root)
	for name, text := range all {
		err = errors.Join(err, os.WriteFile(filepath.Join(root, name), text, 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "thirdparty:", err)
		os.Exit(1)
	}
}
