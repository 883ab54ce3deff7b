package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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

func TestTheImageIsSound(t *testing.T) {
	index, err := layout.ImageIndexFromPath(unpackedImage(t))
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	m, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, m.Manifests, 1)
	image, err := index.Image(m.Manifests[0].Digest)
	require.NoError(t, err)
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
	b = bytes.Replace(b, []byte(`"platform"`), []byte(`"annotations":{"org.opencontainers.image.ref.name":"latest"},"platform"`), 1)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	out, err := exec.Command("umoci", "stat", "--json", "--image", dir+":latest").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "failaware 1.2.3-rc1")
}
