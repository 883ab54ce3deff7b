package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// billName is the software bill of materials of the project.
const billName = "sbom.cdx.json"

// writeBill writes the software bill of materials with the version of the release.
func (r *release) writeBill() error {
	b, err := os.ReadFile(filepath.Join(r.root, billName))
	if err != nil {
		return err
	}
	var bill map[string]any
	if err := json.Unmarshal(b, &bill); err != nil {
		return fmt.Errorf("%s: %w", billName, err)
	}
	metadata, _ := bill["metadata"].(map[string]any)
	component, ok := metadata["component"].(map[string]any)
	if !ok {
		return errors.New(billName + " does not say what it is of")
	}
	component["version"] = r.version
	if purl, ok := component["purl"].(string); ok {
		component["purl"] = purl + "@v" + strings.ReplaceAll(r.version, "+", "%2B")
	}
	return r.create("failaware-"+r.version+".cdx.json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(bill)
	})
}

// writeSums writes SHA256SUMS, which sha256sum -c reads.
func (r *release) writeSums() error {
	list, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range list {
		b, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(b), f.Name())
	}
	return r.create("SHA256SUMS", func(w io.Writer) error {
		_, err := io.WriteString(w, sums.String())
		return err
	})
}
