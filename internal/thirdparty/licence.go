package main

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// texts are the licences that users of Apache-2.0 software may accept without review.
// <name> stands for some words, and <optional> precedes a part that may be missing.
//
//go:embed licences
var texts embed.FS

// known are the patterns of the texts, by SPDX identifier.
var known = func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	files, err := texts.ReadDir("licences")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := texts.ReadFile("licences/" + f.Name())
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(f.Name(), ".txt")] = pattern(string(text))
	}
	return all
}()

// reviewed are licence files that match no known text but have been read: their SHA-256
// in hexadecimal, and the result.
var reviewed = map[string]review{
	// MIT for the files ported from libyaml, Apache-2.0 for the others. Both texts
	// are the usual ones.
	"d18f6323b71b0b768bb5e9616e36da390fbd39369a81807cca352de4e4e6aa0b": {"go.yaml.in/yaml/v3", "MIT AND Apache-2.0"},
	// The usual text below a second title line.
	"f19854b341534d1f2314c0c70d9cd2bb4fa1f7c86fffdc4444ca33cccce412ba": {"github.com/zeebo/xxh3", "BSD-2-Clause"},
	// The usual text of MIT, with the title and the copyright holder marked up.
	"a017c16b0beadd6686670ad3609a0130570e02fd8bd4f2d0ad18f46cedf76d1c": {"github.com/anishathalye/porcupine", "MIT"},
}

// review is the reviewed licence of a module.
type review struct{ module, licence string }

// licence is a licence of a module.
type licence struct {
	id   string // SPDX
	text string
	more string // of the file NOTICE, which must be passed on
}

// licenceOf returns the licence of a module, or an error if it is unknown.
func licenceOf(m *module) (licence, error) {
	files, err := filepath.Glob(filepath.Join(m.Dir, "LICEN[SC]E*"))
	if err != nil {
		return licence{}, err
	}
	if len(files) != 1 {
		return licence{}, fmt.Errorf("%s has %d licence files: %v", m.Path, len(files), files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return licence{}, err
	}
	id, err := identify(m.Path, text)
	if err != nil {
		return licence{}, err
	}
	more, err := os.ReadFile(filepath.Join(m.Dir, "NOTICE"))
	if err != nil && !os.IsNotExist(err) {
		return licence{}, err
	}
	return licence{id, string(text), string(more)}, nil
}

// identify returns the SPDX identifier of a module's licence text.
func identify(path string, text []byte) (string, error) {
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	if r, ok := reviewed[digest]; ok && r.module == path {
		return r.licence, nil
	}
	have := words(string(text))
	for id, p := range known {
		if p.MatchString(have) {
			return id, nil
		}
	}
	return "", fmt.Errorf("%s: the licence is unknown; if Apache-2.0 users can accept it, "+
		"add it to the reviewed ones as %s, with a reason", path, digest)
}

// head matches lines above the text of a licence: its name, and the copyright holders.
var head = regexp.MustCompile(`^\s*(Copyright\b.*|All rights reserved\.?|(The )?MIT License( \((MIT|Expat)\))?:?|(The )?(BSD|ISC) .*License.*)\s*$`)

var word = regexp.MustCompile(`[a-z]+|<[a-z]+>`)

// words returns the words of a licence in lower case, without the lines above its
// text.
func words(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		if !head.MatchString(line) {
			all = append(all, word.FindAllString(strings.ToLower(line), -1)...)
		}
	}
	return strings.Join(all, " ")
}

// pattern returns a pattern for the words of a licence.
func pattern(text string) *regexp.Regexp {
	needed, optional, has := strings.Cut(words(text), " <optional>")
	expr := regexp.QuoteMeta(needed)
	if has {
		expr += "(" + regexp.QuoteMeta(optional) + ")?"
	}
	return regexp.MustCompile("^" + strings.ReplaceAll(expr, "<name>", "[a-z]+( [a-z]+){0,11}") + "$")
}
