package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// unpackedImage returns the directory of the image's layout.
func unpackedImage(t *testing.T) string {
	t.Helper()
	f, err := os.Open(filepath.Join(built(t, "1.2.3-rc1"), "failaware-1.2.3-rc1-image.oci.tar"))
	require.NoError(t, err)
	defer f.Close()
	dir := t.TempDir()
	unpack(t, f, dir)
	return dir
}

// imageOf returns the image of a layout for a platform.
func imageOf(t *testing.T, dir string, platforms ...string) v1.Image {
	t.Helper()
	whole, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	require.NoError(t, validate.Index(whole))
	m, err := whole.IndexManifest()
	require.NoError(t, err)
	require.Len(t, m.Manifests, 1, "tools take the only one")
	index, err := whole.ImageIndex(m.Manifests[0].Digest)
	require.NoError(t, err)
	m, err = index.IndexManifest()
	require.NoError(t, err)
	var found []string
	for _, d := range m.Manifests {
		found = append(found, d.Platform.String())
	}
	require.Equal(t, platforms, found)
	image, err := index.Image(m.Manifests[0].Digest)
	require.NoError(t, err)
	return image
}

// writtenFor returns a file with an image for two platforms, whose programs are no programs.
func writtenFor(t *testing.T, arch ...string) string {
	t.Helper()
	work, out := t.TempDir(), t.TempDir()
	r := release{root: "../..", work: work, out: out, version: "1.2.3", time: time.Unix(1_700_000_000, 0), say: io.Discard}
	for _, a := range arch {
		r.targets = append(r.targets, target{"linux", a})
		binary := r.binary(target{"linux", a})
		require.NoError(t, os.MkdirAll(filepath.Dir(binary), 0o755))
		require.NoError(t, os.WriteFile(binary, []byte(a), 0o755))
	}
	require.NoError(t, r.writeImage())
	return filepath.Join(out, "failaware-1.2.3-image.oci.tar")
}

// Skopeo copies an image for two platforms whole, as the page on Kubernetes says.
func TestSkopeoCopiesAllPlatforms(t *testing.T) {
	file := writtenFor(t, "amd64", "arm64")
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	dir := t.TempDir()
	unpack(t, f, dir)
	imageOf(t, dir, "linux/amd64", "linux/arm64")

	if _, err := exec.LookPath("skopeo"); err != nil {
		t.Skip("skopeo is not installed")
	}
	to := t.TempDir()
	out, err := exec.Command("skopeo", "copy", "--all", "--insecure-policy", "oci-archive:"+file, "oci:"+to+":copy").CombinedOutput()
	require.NoError(t, err, string(out))
	imageOf(t, to, "linux/amd64", "linux/arm64")
}

func TestTheImageIsSound(t *testing.T) {
	image := imageOf(t, unpackedImage(t), "linux/amd64")
	file, err := image.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, "linux/amd64", file.OS+"/"+file.Architecture)
	require.Equal(t, []string{"/failaware"}, file.Config.Entrypoint)
	require.Equal(t, nobody, file.Config.User)

	// The program runs where there is nothing else, as the image's user.
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	root, err := os.MkdirTemp("", "image") // which the user can enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	require.NoError(t, os.Chmod(root, 0o755))
	unpack(t, mutate.Extract(image), root)
	out, err := exec.Command("chroot", "--userspec="+nobody, root, "/failaware", "config", "check", "-o", "json").CombinedOutput()
	require.NoError(t, err, string(out))
	require.True(t, json.Valid(out), string(out))
}

// A tool that others wrote reads the image.
func TestUmociReadsTheImage(t *testing.T) {
	if _, err := exec.LookPath("umoci"); err != nil {
		t.Skip("umoci is not installed")
	}
	dir := unpackedImage(t)
	// umoci names images by tags, which the layout has none of.
	path := filepath.Join(dir, "index.json")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b = bytes.Replace(b, []byte(`"digest"`), []byte(`"annotations":{"org.opencontainers.image.ref.name":"latest"},"digest"`), 1)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	out, err := exec.Command("umoci", "stat", "--json", "--image", dir+":latest").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "failaware 1.2.3-rc1")
}
