package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path/filepath"
	"strings"
)

// source is a package as the go command lists it. Those with tests come again: with the
// files of their tests, and as the package of tests beside them.
type source struct {
	ImportPath string
	Dir        string
	Name       string
	ForTest    string // the package that the tests in it are of
	GoFiles    []string
	ImportMap  map[string]string // from the texts of imports to ImportPath
	Module     *struct {
		Main      bool
		GoVersion string
	}
}

// own reports whether it is of the module that is checked.
func (p *source) own() bool { return p.Module != nil && p.Module.Main }

// path returns the path that names the package, or the one whose tests it has.
func (p *source) path() string {
	if p.ForTest != "" {
		return p.ForTest
	}
	return p.ImportPath
}

// files returns the paths of its files.
func (p *source) files() (all []string) {
	for _, name := range p.GoFiles {
		all = append(all, filepath.Join(p.Dir, name))
	}
	return all
}

// list returns all packages, their tests and what they import, each behind its imports.
func (t target) list(dir string) (all []source, err error) {
	out, err := t.command(dir, "list", "-deps", "-test", "-json=ImportPath,Dir,Name,ForTest,GoFiles,ImportMap,Module", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p source
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if p.ImportPath != "unsafe" && !strings.HasSuffix(p.ImportPath, ".test") { // the go command writes the mains of tests
			all = append(all, p)
		}
	}
}

// check checks the types of packages: all of this module, and what others declare.
func (t target) check(all []source) error {
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	var wrong []error
	for _, p := range all {
		files, set, err := p.parse()
		if err != nil {
			return err
		}
		c := types.Config{
			Importer:         imports{done, p.ImportMap},
			Sizes:            types.SizesFor("gc", t.arch),
			IgnoreFuncBodies: !p.own(),
			Error:            func(err error) { wrong = append(wrong, err) },
		}
		if p.own() {
			c.GoVersion = "go" + p.Module.GoVersion
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		done[p.ImportPath], _ = c.Check(path, set, files, nil) // Error has the errors
	}
	return errors.Join(wrong...)
}

func (p *source) parse() (files []*ast.File, set *token.FileSet, err error) {
	set = token.NewFileSet()
	for _, name := range p.files() {
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	return files, set, nil
}

// imports finds the packages that a package imports.
type imports struct {
	done map[string]*types.Package
	of   map[string]string
}

func (i imports) Import(text string) (*types.Package, error) {
	path, ok := i.of[text]
	if !ok {
		path = text
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("the go command lists no package %s before those that import it", path)
}
