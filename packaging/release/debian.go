package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// writeDebian writes the Debian package of a target with dpkg-deb, the format's own
// program: it needs no root and no library, and writes the same bytes for the same
// files. Without it, as on other systems than Debian's, the packages are missing.
func (r *release) writeDebian(ctx context.Context, t target, bin string) error {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		fmt.Fprintln(r.say, "no Debian package for", t, "because dpkg-deb is missing")
		return nil
	}
	files := r.debianFiles(bin)
	if files.err != nil {
		return files.err
	}
	dir, err := os.MkdirTemp(r.work, "debian")
	if err != nil {
		return err
	}
	size, sums := 0, ""
	for _, f := range files.sorted() {
		size += (len(f.data) + 1023) / 1024
		sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.name)
	}
	files.entries = append(files.entries, entry{"DEBIAN/md5sums", 0o644, []byte(sums)},
		entry{"DEBIAN/control", 0o644, []byte(r.control(t, size))})
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		files.add("DEBIAN/"+script, r.packaging("debian", script), 0o755)
	}
	if files.err != nil {
		return files.err
	}
	if err := r.plant(dir, files.sorted()); err != nil {
		return err
	}
	name := fmt.Sprintf("failaware_%s_%s.deb", debianVersion(r.version), t.arch)
	if _, err := r.output(ctx, "dpkg-deb", "--root-owner-group", "-Zxz", "--build", dir, filepath.Join(r.out, name)); err != nil {
		return err
	}
	fmt.Fprintln(r.say, name)
	return nil
}

// debianVersion returns the version for Debian, in whose order ~ comes before the end:
// 1.2.3~rc1 is older than 1.2.3.
func debianVersion(v string) string { return strings.Replace(v, "-", "~", 1) }

// control describes the package.
func (r *release) control(t target, size int) string {
	return fmt.Sprintf(`Package: failaware
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Depends: passwd
Section: net
Priority: optional
Homepage: https://github.com/failaware/failaware
Description: leaders, views and clocks that know when they are out of date
 A node of a fail-aware group: it elects leaders, agrees on the members of the
 group, synchronizes clocks and orders messages over an unreliable network, and
 says of each answer whether it holds.
`, debianVersion(r.version), t.arch, maintainer, size)
}

// maintainer is whom the package names. The project has no address but that of its home
// page: SECURITY.md says how to reach it.
const maintainer = "The failaware authors <failaware@users.noreply.github.com>"

// changelog is that of Debian's form, which names the version of the package.
func (r *release) changelog() entry {
	text := fmt.Sprintf("failaware (%s) unstable; urgency=medium\n\n  * CHANGELOG.md.gz has the changes.\n\n -- %s  %s\n",
		debianVersion(r.version), maintainer, r.time.Format(time.RFC1123Z))
	e := entry{docs + "changelog.gz", 0o644, []byte(text)}
	compress(&e)
	return e
}

// docs is where the package has its documents.
const docs = "usr/share/doc/failaware/"

// debianFiles returns the files that the package installs.
func (r *release) debianFiles(bin string) *tree {
	files := &tree{}
	files.add("usr/bin/failaware", bin, 0o755)
	files.add("lib/systemd/system/failaware.service", r.packaging("systemd", "failaware.service"), 0o644)
	files.add("usr/lib/sysusers.d/failaware.conf", r.packaging("systemd", "failaware.sysusers"), 0o644)
	files.add(docs+"examples/node.yaml", r.packaging("etc", "node.yaml"), 0o644)
	files.add(docs+"copyright", r.packaging("debian", "copyright"), 0o644)
	files.add(docs+"THIRD_PARTY.txt", filepath.Join(r.root, "THIRD_PARTY.txt"), 0o644)
	files.add(docs+"CHANGELOG.md.gz", filepath.Join(r.root, "CHANGELOG.md"), 0o644)
	if files.err == nil {
		compress(&files.entries[len(files.entries)-1])
	}
	files.entries = append(files.entries, r.changelog(),
		entry{"usr/share/lintian/overrides/failaware", 0o644, []byte("# The program is to run on any Linux.\nfailaware: statically-linked-binary [usr/bin/failaware]\n")})
	files.addAll("usr/share/man/man1", filepath.Join(r.work, "man"), func(e *entry) {
		e.name += ".gz"
		compress(e)
	})
	completions := filepath.Join(r.work, "completions")
	files.add("usr/share/bash-completion/completions/failaware", filepath.Join(completions, shells["bash"]), 0o644)
	files.add("usr/share/zsh/vendor-completions/_failaware", filepath.Join(completions, shells["zsh"]), 0o644)
	files.add("usr/share/fish/vendor_completions.d/failaware.fish", filepath.Join(completions, shells["fish"]), 0o644)
	return files
}

// compress compresses a file without its name and its time.
func compress(e *entry) {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is known
	_, _ = z.Write(e.data)                                // into memory
	_ = z.Close()
	e.data = b.Bytes()
}

// plant writes files below a directory. dpkg-deb gives them the time of the release.
func (r *release) plant(dir string, files []entry) (err error) {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.data, f.mode), os.Chmod(path, f.mode))
	}
	for _, d := range append(directories(files), ".") {
		err = errors.Join(err, os.Chmod(filepath.Join(dir, d), 0o755))
	}
	return err
}
