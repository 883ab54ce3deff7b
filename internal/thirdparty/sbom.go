package main

import (
	"encoding/json"
	"strings"
)

// sbomFile is the name of the software bill of materials in the root of the project.
const sbomFile = "sbom.cdx.json"

// The part of CycloneDX 1.6 (ECMA-424) that a bill of materials needs.
type (
	bill struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref,omitempty"`
		Name       string     `json:"name"`
		Version    string     `json:"version,omitempty"`
		PURL       string     `json:"purl,omitempty"`
		Licences   []choice   `json:"licenses,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	// choice is an SPDX identifier, or an expression of several.
	choice struct {
		Licence    *spdx  `json:"license,omitempty"`
		Expression string `json:"expression,omitempty"`
	}
	spdx struct {
		ID string `json:"id"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// sbom returns the bill of materials of the programs. It has no time and no serial
// number, so that the same modules give the same bytes.
func sbom(modules []*module, licences []licence) ([]byte, error) {
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{component{Type: "application", Ref: "failaware",
		Name: "github.com/failaware/failaware", PURL: "pkg:golang/github.com/failaware/failaware", Licences: licenceChoice("Apache-2.0")}}}
	for i, m := range modules {
		c := component{Type: "library", Ref: m.Path, Name: m.Path, Version: m.Version, PURL: purl(m), Licences: licenceChoice(licences[i].id)}
		c.Properties = append(c.Properties, property{"programs", strings.Join(m.programs, " ")})
		if m.Sum != "" {
			c.Properties = append(c.Properties, property{"go.sum", m.Sum})
		}
		b.Components = append(b.Components, c)
	}
	out, err := json.MarshalIndent(b, "", "  ")
	return append(out, '\n'), err
}

// purl returns the package URL of a module.
func purl(m *module) string {
	switch m.Path {
	case golang:
		return "pkg:golang/std"
	case charts:
		return "pkg:npm/uplot@" + strings.TrimPrefix(m.Version, "v")
	}
	return "pkg:golang/" + strings.ToLower(m.Path) + "@" + m.Version
}

func licenceChoice(id string) []choice {
	if strings.Contains(id, " ") {
		return []choice{{Expression: id}}
	}
	return []choice{{Licence: &spdx{id}}}
}
