package durable

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/crc32"
	"strings"
)

// MaxSize is the size in bytes of the largest content, unless its kind has another limit.
// Records are small: each write replaces all of it.
const MaxSize = 1 << 20

// maxKind is the length in bytes of the longest name of a kind.
const maxKind = 32

// Kind names the content of a record, and the version of its format.
type Kind struct {
	Name    string // of letters, digits and "-"; at most 32 bytes
	Version uint32
	Most    int // bytes of content; 0 means MaxSize
}

func (k Kind) most() int { return cmp.Or(k.Most, MaxSize) }

// DamagedError says that a file is damaged.
type DamagedError struct {
	Path string
	What string // the fault, as in "its checksum is wrong"
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Path, e.What) }

// LaterError says that a file has a later format than this build knows.
type LaterError struct {
	Path           string
	Version, Known uint32
}

func (e *LaterError) Error() string {
	return fmt.Sprintf("a newer build of failaware has written %s: its format has version %d, and this build knows %d; start the newer build again", e.Path, e.Version, e.Known)
}

var table = crc32.MakeTable(crc32.Castagnoli)

// header returns the first line of a file. The checksum also covers the other fields of
// the line, so that exactly one line is right for a content.
func header(k Kind, content []byte) string {
	text := fmt.Sprintf("failaware %s %d %d", k.Name, k.Version, len(content))
	sum := crc32.Update(crc32.Checksum([]byte(text), table), table, content)
	return fmt.Sprintf("%s %08x\n", text, sum)
}

// seal returns the bytes of a file.
func seal(k Kind, content []byte) []byte { return append([]byte(header(k, content)), content...) }

// open returns the content of the bytes of a file. The error is a [*DamagedError] or a
// [*LaterError].
func open(k Kind, path string, file []byte) (content []byte, err error) {
	wrong := func(format string, args ...any) ([]byte, error) {
		return nil, &DamagedError{path, fmt.Sprintf(format, args...)}
	}
	if len(file) == 0 {
		return wrong("it is empty")
	}
	end := bytes.IndexByte(file, '\n')
	if end < 0 {
		return wrong("its first line does not end")
	}
	line, content := string(file[:end+1]), file[end+1:]
	if line == header(k, content) {
		return content, nil
	}
	// The line looks plausible, but the checksum has shown that it is wrong.
	var name, sum string
	var version uint32
	var size int
	if n, _ := fmt.Sscanf(line, "failaware %s %d %d %s", &name, &version, &size, &sum); n < 4 {
		return wrong("it is no record of failaware")
	}
	switch {
	case name != k.Name:
		return wrong("it holds %q and not %q", name, k.Name)
	case version > k.Version && line == header(Kind{Name: name, Version: version}, content):
		return nil, &LaterError{path, version, k.Version}
	case version != k.Version:
		return wrong("its format has version %d, and only %d is known", version, k.Version)
	case size != len(content):
		return wrong("it has %d bytes of content, and says that there are %d", len(content), size)
	}
	return wrong("its checksum is wrong")
}

// check returns an error if a record cannot be written.
func check(k Kind, content []byte) error {
	if k.Name == "" || len(k.Name) > maxKind || strings.ContainsAny(k.Name, " \n\t") {
		return fmt.Errorf("durable: %q names no kind of record", k.Name)
	}
	if len(content) > k.most() {
		return fmt.Errorf("durable: %d bytes of content are more than %d", len(content), k.most())
	}
	return nil
}
