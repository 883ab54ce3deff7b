package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/failaware/failaware/internal/trust"
)

// maxConfigFile bounds the size of a configuration file in bytes.
const maxConfigFile = 1 << 20

// readConfigFile returns the settings of a file. Its errors name the file, the line
// and the key of every wrong setting. It waits for no other end of a pipe: at SIGHUP a node
// reads its file again.
func readConfigFile(path string) (source, error) {
	f, err := trust.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxConfigFile:
		return nil, fmt.Errorf("%s: it is larger than %d bytes", path, maxConfigFile)
	}
	return parseConfig(path, string(b))
}

func parseConfig(path, content string) (source, error) {
	p := &configParser{path: path, to: source{}}
	dec := yaml.NewDecoder(strings.NewReader(content))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return p.to, nil // empty
	case err != nil:
		hint := ""
		if strings.Contains(content, "\t") {
			hint = "; a tab cannot indent a line"
		}
		return nil, fmt.Errorf("%s: %s%s", path, strings.TrimPrefix(err.Error(), "yaml: "), hint)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is more than one document", path)
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return p.to, nil
	}
	p.section(top, "")
	return p.to, errors.Join(p.errs...)
}

// configParser walks through a file. It does not decode into a struct, since later
// errors about a value name its line.
type configParser struct {
	path string
	to   source
	errs []error
}

func (p *configParser) bad(n *yaml.Node, key, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d: %s: %s", p.path, n.Line, key, fmt.Sprintf(format, args...)))
}

// section reads a mapping whose keys begin with a prefix.
func (p *configParser) section(n *yaml.Node, prefix string) {
	if n.Kind != yaml.MappingNode {
		where := strings.TrimSuffix(prefix, ".")
		if where == "" {
			where = "the file"
		}
		p.bad(n, where, "keys with values are needed")
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key := prefix + k.Value
		if first, again := lines[key]; again {
			p.bad(k, key, "it is set twice, first in line %d", first)
			continue
		}
		lines[key] = k.Line
		if v.Kind == yaml.AliasNode {
			v = v.Alias
		}
		if i := slices.IndexFunc(settings, func(s *setting) bool { return s.key == key }); i >= 0 {
			p.value(settings[i], v)
		} else if isSection(key) {
			p.section(v, key+".")
		} else {
			p.bad(k, key, "there is no such setting%s", suggestion(key))
		}
	}
}

func isSection(key string) bool {
	return slices.ContainsFunc(settings, func(s *setting) bool { return strings.HasPrefix(s.key, key+".") })
}

// suggestion names a setting whose key is similar.
func suggestion(key string) string {
	plain := func(s string) string {
		return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(s))
	}
	for _, s := range settings {
		last := s.key[strings.LastIndex(s.key, ".")+1:]
		if plain(key) == plain(s.flag) || plain(key) == plain(s.key) || plain(key) == plain(last) {
			return "; there is " + s.key
		}
	}
	return ""
}

func (p *configParser) value(s *setting, n *yaml.Node) {
	if s.list() {
		if n.Kind != yaml.SequenceNode {
			p.bad(n, s.key, "a list of %s is needed", s.kind)
			return
		}
		p.to[s.key] = []raw{} // an empty list is a list, too
		for i, item := range n.Content {
			p.scalar(s, item, fmt.Sprintf("%s[%d]", s.key, i))
		}
		return
	}
	p.scalar(s, n, s.key)
}

func (p *configParser) scalar(s *setting, n *yaml.Node, key string) {
	switch {
	case n.Kind != yaml.ScalarNode:
		p.bad(n, key, "one value (%s) is needed", s.kind)
	case n.Tag == "!!null":
		p.bad(n, key, "it has no value")
	case s.kind == kindBool && n.Tag != "!!bool":
		p.bad(n, key, "%q is neither true nor false", n.Value)
	default:
		p.to[s.key] = append(p.to[s.key], raw{n.Value, fmt.Sprintf("%s:%d: %s", p.path, n.Line, key)})
	}
}
