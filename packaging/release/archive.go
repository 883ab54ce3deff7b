package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// writeArchive writes the archive of a target: a zip file for Windows, and otherwise a
// compressed tar file.
func (r *release) writeArchive(t target, bin string) error {
	top := fmt.Sprintf("failaware-%s-%s-%s", r.version, t.os, t.arch)
	var all tree
	all.add(top+"/"+t.program("failaware"), bin, 0o755)
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "THIRD_PARTY.txt"} {
		all.add(top+"/"+name, filepath.Join(r.root, name), 0o644)
	}
	all.addAll(top+"/man", filepath.Join(r.work, "man"), nil)
	all.addAll(top+"/completions", filepath.Join(r.work, "completions"), nil)
	if t.os == "linux" {
		all.add(top+"/systemd/failaware.service", r.packaging("systemd", "failaware.service"), 0o644)
		all.add(top+"/systemd/failaware.sysusers", r.packaging("systemd", "failaware.sysusers"), 0o644)
		all.add(top+"/systemd/node.yaml", r.packaging("etc", "node.yaml"), 0o644)
	}
	if all.err != nil {
		return all.err
	}
	name, write := top+".tar.gz", r.writeTarGz
	if t.os == "windows" {
		name, write = top+".zip", r.writeZip
	}
	return r.create(name, func(w io.Writer) error { return write(w, all.sorted()) })
}

func (r *release) packaging(parts ...string) string {
	return filepath.Join(append([]string{r.root, "packaging"}, parts...)...)
}

// create writes a file of the release.
func (r *release) create(name string, write func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintln(r.say, name)
	return nil
}

func (r *release) writeTarGz(w io.Writer, files []entry) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(r.writeTar(z, files), z.Close())
}

// writeTar writes directories and files that root owns, all of one time.
func (r *release) writeTar(w io.Writer, files []entry) error {
	out := tar.NewWriter(w)
	for _, dir := range directories(files) {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: r.time, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
	}
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: r.time, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(f.data); err != nil {
			return err
		}
	}
	return out.Close()
}

func (r *release) writeZip(w io.Writer, files []entry) error {
	out := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(f.mode)
		to, err := out.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return out.Close()
}
