package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/failaware/failaware/internal/mutant/planted"
)

// listed is what the go command says about a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
	DepOnly    bool
}

// list lists packages with all that they import, compiled.
func list(ctx context.Context, root string, pkgs []string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, pkgs...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		switch err := d.Decode(&l); err {
		case nil:
			all = append(all, l)
		case io.EOF:
			return all, nil
		default:
			return nil, err
		}
	}
}

// plant writes copies of the files of some packages, with all changes in them, into
// dir. It returns the changes and the overlay file that puts the copies in place.
func plant(ctx context.Context, root, dir string, pkgs []string) (changes []change, overlay string, err error) {
	all, err := list(ctx, root, pkgs)
	if err != nil {
		return nil, "", err
	}
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	fset, next, replace := token.NewFileSet(), 0, map[string]string{}
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, l := range all {
		if l.DepOnly {
			continue
		}
		found, err := plantPackage(fset, imp, dir, l, &next, replace)
		if err != nil {
			return nil, "", err
		}
		changes = append(changes, found...)
	}
	overlay, err = planted.WriteOverlay(dir, replace)
	return changes, overlay, err
}

// plantPackage writes the changed copies of one package.
func plantPackage(fset *token.FileSet, imp types.Importer, dir string, l listed, next *int, replace map[string]string) (changes []change, err error) {
	var files []*ast.File
	for _, name := range l.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: imp}).Check(l.ImportPath, fset, files, info); err != nil {
		return nil, err
	}
	rel := strings.TrimPrefix(l.ImportPath, planted.Module+"/")
	for i, file := range files {
		path := filepath.Join(l.Dir, l.GoFiles[i])
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := &finder{fset: fset, info: info, src: src, pkg: rel, file: l.GoFiles[i], next: next}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				f.function(fn)
			}
		}
		if len(f.changes) == 0 {
			continue
		}
		changes = append(changes, f.changes...)
		to := filepath.Join(dir, strings.ReplaceAll(rel, "/", "-")+"-"+l.GoFiles[i]+".txt")
		at := fset.Position(file.Name.End()).Offset
		text := f.render()
		text = text[:at] + "; import " + alias + ` "` + planted.Module + `/internal/mutant/sweep/swept"` + text[at:]
		if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
			return nil, err
		}
		replace[path] = to
	}
	return changes, err
}
