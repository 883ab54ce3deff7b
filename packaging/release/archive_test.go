package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unpack unpacks a tar file, and returns the names of its files.
func unpack(t *testing.T, from io.Reader, dir string) (names []string) {
	t.Helper()
	for in := tar.NewReader(from); ; {
		h, err := in.Next()
		if err == io.EOF {
			return names
		}
		require.NoError(t, err)
		require.True(t, filepath.IsLocal(h.Name), h.Name)
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		names = append(names, h.Name)
		b, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, b, h.FileInfo().Mode()))
	}
}

func TestTheArchiveIsComplete(t *testing.T) {
	const version = "1.2.3-rc1"
	dir := built(t, version)
	f, err := os.Open(filepath.Join(dir, "failaware-1.2.3-rc1-linux-amd64.tar.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	to := t.TempDir()
	names := unpack(t, z, to)
	const top = "failaware-1.2.3-rc1-linux-amd64/"
	for _, name := range []string{"failaware", "LICENSE", "THIRD_PARTY.txt", "man/failaware.1", "man/failaware-node.1", "man/failaware-config-check.1",
		"completions/failaware.bash", "completions/_failaware", "completions/failaware.fish", "completions/failaware.ps1", "systemd/failaware.service"} {
		require.Contains(t, names, top+name)
	}

	program := filepath.Join(to, top, "failaware")
	out, err := exec.Command(program, "--version").Output()
	require.NoError(t, err)
	require.Regexp(t, `^failaware version 1\.2\.3-rc1 \(commit (unknown|[0-9a-f]{12}( with changes)?), go\S+, linux/amd64\)\n$`, string(out))
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer file.Close()
	for _, p := range file.Progs {
		require.NotEqual(t, elf.PT_INTERP, p.Type, "the program is not static")
	}
	page, err := os.ReadFile(filepath.Join(to, top, "man", "failaware.1"))
	require.NoError(t, err)
	require.Contains(t, string(page), `"failaware 1.2.3-rc1"`)
	// What users run has no command for writing pages.
	require.Error(t, exec.Command(program, "manual", t.TempDir(), "1").Run())
}

func TestTheSumsAndTheBillAreThoseOfTheFiles(t *testing.T) {
	dir := built(t, "1.2.3-rc1")
	b, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Equal(t, len(list)-1, strings.Count(string(b), "\n"))
	for line := range strings.Lines(string(b)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(data)), sum)
	}
	var bill struct {
		Metadata struct {
			Component struct{ Version, PURL string }
		}
		Components []struct{ Name string }
	}
	b, err = os.ReadFile(filepath.Join(dir, "failaware-1.2.3-rc1.cdx.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &bill))
	require.Equal(t, "1.2.3-rc1", bill.Metadata.Component.Version)
	require.Equal(t, "pkg:golang/github.com/failaware/failaware@v1.2.3-rc1", bill.Metadata.Component.PURL)
	require.NotEmpty(t, bill.Components)
}
