package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := release{say: os.Stdout}
	targets := flag.String("targets", "", "build only these, as linux/amd64,darwin/arm64 (default all)")
	flag.StringVar(&r.root, "root", "..", "the project")
	flag.StringVar(&r.out, "out", "../bin/release", "the directory for the files; it must be empty or missing")
	flag.StringVar(&r.version, "version", "", "the version (default that of the project, with the commit)")
	flag.Parse()
	err := r.choose(*targets)
	if err == nil {
		err = r.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// choose sets the targets of a list, or all.
func (r *release) choose(list string) error {
	if list == "" {
		r.targets = targets
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		t, ok := targetNamed(name)
		if !ok {
			return fmt.Errorf("-targets: %q is none of %v", name, targets)
		}
		r.targets = append(r.targets, t)
	}
	return nil
}

// run writes all files of the release.
func (r *release) run(ctx context.Context) (err error) {
	for _, dir := range []*string{&r.root, &r.out} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	if old, _ := os.ReadDir(r.out); len(old) > 0 {
		return fmt.Errorf("-out: %s is not empty", r.out)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "failaware-release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := r.identify(ctx); err != nil {
		return err
	}
	fmt.Fprintf(r.say, "failaware %s of commit %s\n", r.version, r.commit)
	if err := r.writeManual(ctx); err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.build(ctx, t); err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
	}
	if err := r.writeImage(); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if err := r.writeBill(); err != nil {
		return err
	}
	return r.writeSums()
}
