// Command plant makes builds that contain all planted bugs. It writes the mutated
// files and an overlay file for the go command, and then runs the go command
// with them, if it has arguments:
//
//	go run ./internal/mutant/plant                                # prints the flags for the go command
//	go run ./internal/mutant/plant build -o bin/mutated ./cmd/failaware-lab
//	go run ./internal/mutant/plant test -run MutantsAreKilled ./leader
//
// The variable FAILAWARE_MUTANT selects the bug that such a program starts with.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/failaware/failaware/internal/mutant/planted"
)

func main() {
	dir := flag.String("dir", "", "the directory to write to (default bin/mutants in the module)")
	flag.Parse()
	code, err := run(*dir, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
	}
	os.Exit(code)
}

func run(dir string, args []string) (code int, err error) {
	root, err := planted.Root()
	if err != nil {
		return 1, err
	}
	if dir == "" {
		dir = filepath.Join(root, "bin", "mutants")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return 1, err
	}
	overlay, err := planted.Write(root, dir)
	if err != nil {
		return 1, err
	}
	flags := planted.Flags(overlay)
	if len(args) == 0 {
		fmt.Println(strings.Join(flags, " "))
		return 0, nil
	}
	cmd := exec.Command("go", append(append(args[:1:1], flags...), args[1:]...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil // the go command has said why
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
