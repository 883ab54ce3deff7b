package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

func TestTheFilesAreUpToDate(t *testing.T) {
	want, err := files(root)
	require.NoError(t, err)
	require.Len(t, want, 2)
	for name := range want {
		got, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.True(t, string(want[name]) == string(got), "%s is not up to date: run go generate ./internal/thirdparty", name)
	}
}

func TestTheBillNamesWhatIsLinked(t *testing.T) {
	text, err := sbom([]*module{{Path: "github.com/Some/Module", Version: "v1.2.3", Sum: "h1:x=", programs: programs}, {Path: golang}},
		[]licence{{id: "MIT"}, {id: "MIT AND Apache-2.0"}})
	require.NoError(t, err)
	var b bill
	require.NoError(t, json.Unmarshal(text, &b))
	require.Equal(t, "CycloneDX", b.Format)
	require.Equal(t, "pkg:golang/github.com/some/module@v1.2.3", b.Components[0].PURL)
	require.Equal(t, "MIT", b.Components[0].Licences[0].Licence.ID)
	require.Contains(t, b.Components[0].Properties, property{"go.sum", "h1:x="})
	require.Equal(t, "MIT AND Apache-2.0", b.Components[1].Licences[0].Expression)
}

func TestTheNoticeNamesWhatIsLinked(t *testing.T) {
	modules, err := linked(root)
	require.NoError(t, err)
	paths := map[string]*module{}
	for _, m := range modules {
		paths[m.Path] = m
	}
	require.Contains(t, paths, golang)
	require.Equal(t, programs, paths["github.com/spf13/cobra"].programs)
	require.Equal(t, programs[:1], paths["github.com/gdamore/tcell/v2"].programs, "only the demonstration has a screen")
	require.Contains(t, paths, "github.com/inconshreveable/mousetrap", "linked on Windows alone")
	require.NotContains(t, paths, "github.com/stretchr/testify", "tests are not linked")
	require.NotContains(t, paths, "github.com/chromedp/chromedp", "tests are not linked")
	require.Equal(t, programs[:1], paths[charts].programs, "only the dashboard has charts")
}

func text(t *testing.T, id string) string {
	t.Helper()
	b, err := texts.ReadFile("licences/" + id + ".txt")
	require.NoError(t, err)
	return strings.NewReplacer("<name>", "the Jane Doe Company", "<optional>", "").Replace(string(b))
}

func TestKnownLicencesAreIdentified(t *testing.T) {
	for id := range known {
		for _, head := range []string{"", "The MIT License (MIT)\n\nCopyright (c) 2020 Jane Doe\n\n", "Copyright © Jane Doe. All rights reserved.\n"} {
			got, err := identify("example.com/x", []byte(head+text(t, id)))
			require.NoError(t, err, id)
			require.Equal(t, id, got)
		}
	}
	terms, _, _ := strings.Cut(text(t, "Apache-2.0"), "END OF TERMS")
	got, err := identify("example.com/x", []byte(terms))
	require.NoError(t, err)
	require.Equal(t, "Apache-2.0", got)
}

// A licence with a word more or less is another licence.
func TestOtherLicencesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"copyleft":      "Mozilla Public License Version 2.0\n\n1. Definitions",
		"noncommercial": text(t, "MIT") + "\nThe Software must not be sold.",
		"changed":       strings.Replace(text(t, "BSD-2-Clause"), "with or without", "without", 1),
		"advertising": strings.Replace(text(t, "BSD-3-Clause"), "Neither the name",
			"All advertising materials must display an acknowledgement. Neither the name", 1),
	} {
		_, err := identify("example.com/x", []byte(text))
		require.ErrorContains(t, err, "example.com/x: the licence is unknown", name)
	}
}

// A reviewed text is valid for one module alone.
func TestReviewsAreOfModules(t *testing.T) {
	modules, err := linked(root)
	require.NoError(t, err)
	used := map[string]bool{}
	for _, m := range modules {
		used[m.Path] = true
	}
	for digest, r := range reviewed {
		require.True(t, used[r.module], "the review of %s (%s) is no longer needed", r.module, digest)
	}
}
