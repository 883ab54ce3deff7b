package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user of the container, who owns its two directories.
const nobody = "65532:65532"

// writeImage writes an image of the OCI for all Linux targets, as a tar file of its
// layout. The image has the program and nothing else. The layout names one index, which has
// the images of the targets: tools that are told no name take a layout with one entry.
func (r *release) writeImage() error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	some := false
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		image, err := r.image(t)
		if err != nil {
			return err
		}
		some = true
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: t.os, Architecture: t.arch}}})
	}
	if !some {
		return nil
	}
	dir := filepath.Join(r.work, "image")
	whole := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: index})
	if _, err := layout.Write(dir, whole); err != nil {
		return err
	}
	var files tree
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files.add(filepath.ToSlash(name), path, 0o644)
		return errors.Join(err, files.err)
	})
	if err != nil {
		return err
	}
	return r.create("failaware-"+r.version+"-image.oci.tar", func(w io.Writer) error { return r.writeTar(w, files.sorted()) })
}

// image returns the image for a target.
func (r *release) image(t target) (v1.Image, error) {
	content, err := r.layer(t)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{
		Created: v1.Time{Time: r.time}, CreatedBy: "failaware " + r.version}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = t.os, t.arch, v1.Time{Time: r.time}
	file.Config = v1.Config{Entrypoint: []string{"/failaware"}, Cmd: []string{"node"}, User: nobody, WorkingDir: "/", StopSignal: "SIGTERM",
		// STATE_DIRECTORY is a default: a mounted file of settings takes precedence. That of the
		// socket would not do, as Kubernetes mounts volumes there that all may write to.
		Env: []string{"FAILAWARE_ADDR=/run/failaware/failaware.sock", "FAILAWARE_API=/run/failaware/failaware.sock", "STATE_DIRECTORY=/var/lib/failaware"},
		Labels: map[string]string{"org.opencontainers.image.title": "failaware", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.licenses": "Apache-2.0"}}
	return mutate.ConfigFile(image, file)
}

// layer returns the one layer as a tar file: the program, its licences, and the
// directories of its user.
func (r *release) layer(t target) ([]byte, error) {
	program, err := os.ReadFile(r.binary(t))
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	others, err := os.ReadFile(filepath.Join(r.root, "THIRD_PARTY.txt"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for _, e := range []struct {
		name  string
		mode  int64
		owner int
		data  []byte
	}{
		{"LICENSE", 0o644, 0, licence}, {"THIRD_PARTY.txt", 0o644, 0, others}, {"failaware", 0o755, 0, program},
		{"run/", 0o755, 0, nil}, {"run/failaware/", 0o755, 65532, nil}, {"tmp/", 0o1777, 0, nil},
		{"var/", 0o755, 0, nil}, {"var/lib/", 0o755, 0, nil}, {"var/lib/failaware/", 0o700, 65532, nil},
	} {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.data)), ModTime: r.time, Format: tar.FormatUSTAR}
		if e.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := out.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := out.Write(e.data); err != nil {
			return nil, err
		}
	}
	err = out.Close()
	return b.Bytes(), err
}
