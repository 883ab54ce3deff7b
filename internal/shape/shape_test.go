// Package shape holds the tests that guard the shape of the project: the directions of
// imports, and the limits of pure code.
package shape

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/failaware/failaware"

// below lists the modules' packages that each pure package, and some others, may
// import. Imports run downward only. A layer may name a lower layer's values.
var below = map[string][]string{
	"timed":                 {},
	"datagram":              {"timed", "internal/enum"},
	"leader":                {"timed", "datagram", "leader/quorum", "leader/edict", "leader/epoch", "internal/enum"},
	"leader/edict":          {"timed", "internal/enum", "internal/fields"},
	"leader/epoch":          {"timed", "leader/edict", "internal/enum", "internal/fields"},
	"leader/edict/fence":    {"leader/edict", "timed", "internal/durable"},
	"membership":            {"timed", "datagram", "leader", "internal/enum"},
	"clocksync":             {"timed", "datagram", "leader", "internal/enum"},
	"broadcast":             {"timed", "datagram", "leader", "leader/quorum", "membership", "clocksync", "internal/enum"},
	"internal/replica":      {"timed", "membership", "clocksync", "broadcast", "leader/quorum", "internal/enum", "internal/fields"},
	"internal/wire":         {"timed", "datagram", "leader", "membership", "clocksync", "broadcast", "leader/edict", "leader/epoch"},
	"internal/stack":        {"timed", "datagram", "leader", "membership", "clocksync", "broadcast", "internal/wire", "leader/quorum", "leader/edict", "leader/epoch", "internal/enum"},
	"sim":                   {"timed", "datagram", "leader", "membership", "clocksync", "broadcast", "internal/random", "sim/fault", "sim/situation", "sim/internal/check", "sim/internal/clique", "sim/internal/hardware", "sim/internal/jsonform", "internal/wire", "internal/stack", "internal/life", "leader/quorum", "leader/edict", "leader/epoch"},
	"sim/diagram":           {"sim", "membership", "timed", "internal/svg"},
	"internal/random":       {},
	"sim/situation":         {},
	"sim/internal/check":    {"timed", "datagram", "leader", "membership", "clocksync", "broadcast", "sim/fault", "sim/situation", "sim/internal/hardware", "internal/wire", "internal/stack", "internal/life", "leader/quorum", "leader/edict", "leader/epoch"},
	"sim/fault":             {"timed", "broadcast", "leader/quorum", "internal/random", "sim/internal/hardware", "sim/internal/jsonform"},
	"sim/internal/hardware": {"timed", "internal/random"},
	"sim/internal/clique":   {},
	"sim/internal/jsonform": {"timed"},
	"internal/svg":          {},
	"internal/cli":          {},
	"internal/figure":       {"internal/svg"},
	"leader/quorum":         {"timed"},
	"clocksync/reference":   {"timed", "clocksync", "internal/hwclock"},
	"clocksync/hlc":         {"clocksync"},
	"sim/lab":               {"timed", "datagram", "leader", "internal/wire", "sim", "sim/fault", "sim/internal/clique", "internal/figure"},
	// A world of its own beside the simulator, which sees nodes only through their
	// sockets.
	"sim/memory":         {"", "timed", "internal/hwclock", "internal/transport", "internal/udp"},
	"internal/transport": {"timed", "internal/hwclock", "internal/udp"},
	"sim/exhaust":        {"timed", "datagram", "leader", "membership", "clocksync", "broadcast", "internal/wire", "internal/stack"},
	"internal/life":      {"timed"},
	// The loop knows values of the stack and nothing of the public API above it.
	"internal/loop": {"timed", "datagram", "leader", "membership", "clocksync", "broadcast", "internal/wire", "internal/stack", "leader/epoch",
		"internal/life", "internal/loop/commandqueue", "internal/loop/deliveryqueue", "internal/loop/sendqueue", "internal/loop/statedir",
		"internal/admit", "internal/claim", "internal/introduce", "internal/join", "internal/histogram", "internal/hwclock", "internal/pause", "internal/peers", "internal/seal", "internal/seqlock", "internal/transport", "internal/udp"},
	"internal/admit":              {"timed"},
	"internal/claim":              {"timed"},
	"internal/introduce":          {"timed", "internal/wire"},
	"internal/seal":               {"internal/durable", "internal/trust"},
	"internal/loop/commandqueue":  {},
	"internal/loop/deliveryqueue": {"timed", "membership", "broadcast", "leader/quorum", "internal/life"},
	"internal/loop/sendqueue":     {"timed", "membership", "broadcast", "internal/stack"},
	"internal/loop/statedir":      {"timed", "membership", "leader/epoch", "leader/quorum", "internal/durable", "internal/stack"},
	"internal/peers":              {"timed"},
	"internal/attach":             {"broadcast", "leader/quorum", "internal/loop/deliveryqueue", "timed"},
	"internal/join":               {"timed", "internal/peers", "internal/trust"},
	"internal/session":            {"timed", "internal/fields"},
	"replicate":                   {"", "broadcast", "leader/quorum", "internal/replica", "internal/session", "internal/attach", "replicate/internal/engine"},
	"replicate/internal/engine":   {"", "timed", "membership", "broadcast", "leader/quorum", "internal/replica", "internal/attach", "internal/durable", "internal/journal", "internal/keep", "internal/loop/deliveryqueue", "internal/seqlock"},
	"internal/keep":               {"membership", "broadcast", "internal/replica", "internal/journal"},
	"internal/kv":                 {"timed", "clocksync", "internal/enum"},
	"internal/store":              {"", "internal/api", "internal/durable", "internal/kv", "replicate"},
	"internal/journal":            {"internal/durable", "internal/trust"},
	"internal/eventring":          {},
	"internal/enum":               {},
	"internal/fields":             {},
}

// pure lists the packages that must neither read clocks nor block.
var pure = []string{"timed", "datagram", "leader", "leader/edict", "membership", "clocksync", "broadcast", "internal/replica", "internal/session", "internal/wire", "internal/stack", "internal/life", "internal/admit", "internal/introduce", "leader/quorum", "leader/epoch", "internal/enum", "internal/kv", "internal/claim", "internal/fields", "internal/keep"}

type goPackage struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func packages(t *testing.T) map[string]goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", module+"/...")
	cmd.Dir = root(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	all := map[string]goPackage{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p goPackage
		require.NoError(t, d.Decode(&p))
		all[strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")] = p
	}
	return all
}

// relative returns the path of a package of this module; "" is the root package.
func relative(imp string) (rel string, own bool) {
	if imp == module {
		return "", true
	}
	return strings.CutPrefix(imp, module+"/")
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func TestImportsRunDownward(t *testing.T) {
	all := packages(t)
	for name, allowed := range below {
		p, ok := all[name]
		require.True(t, ok, "there is no package %s", name)
		for _, imp := range p.Imports {
			rel, own := relative(imp)
			if !own {
				continue
			}
			require.Contains(t, allowed, rel, "%s must not import %s", name, rel)
		}
	}
	for name, p := range all {
		for _, imp := range p.Imports {
			rel, own := relative(imp)
			if own && strings.HasPrefix(rel, "cmd/") {
				t.Errorf("%s imports the program %s", name, rel)
			}
			if own && (rel == "sim" || strings.HasPrefix(rel, "sim/")) && name == "" {
				t.Errorf("the library imports %s, which is for tests", rel)
			}
		}
	}
}

// bannedImports are packages that pure code must not import. The addresses of package
// netip are values.
var bannedImports = map[string]string{
	"net": "sockets", "os": "the system", "sync": "locks", "sync/atomic": "locks",
	"math/rand": "global randomness", "math/rand/v2": "global randomness", "crypto/rand": "global randomness",
	"log": "logging", "log/slog": "logging", "github.com/hashicorp/go-hclog": "logging", "context": "waiting",
	"golang.org/x/sys/unix": "the system",
}

// bannedCalls of package time read a clock or wait.
var bannedCalls = map[string]bool{"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true,
	"AfterFunc": true, "Tick": true, "NewTimer": true, "NewTicker": true}

func TestPureCodeStaysPure(t *testing.T) {
	all := packages(t)
	for _, name := range pure {
		p := all[name]
		require.NotEmpty(t, p.GoFiles, name)
		for _, file := range p.GoFiles {
			path := filepath.Join(p.Dir, file)
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			for _, complaint := range impurities(f) {
				t.Errorf("%s/%s %s", name, file, complaint)
			}
		}
	}
}

// impurities returns the violations in a file of pure code.
func impurities(f *ast.File) (out []string) {
	for _, imp := range f.Imports {
		if why, banned := bannedImports[strings.Trim(imp.Path.Value, `"`)]; banned {
			out = append(out, "imports "+imp.Path.Value+": "+why)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out = append(out, "starts a goroutine")
		case *ast.ChanType:
			out = append(out, "uses a channel")
		case *ast.SelectStmt:
			out = append(out, "selects")
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && bannedCalls[s.Sel.Name] {
					out = append(out, "calls time."+s.Sel.Name)
				}
			}
		case *ast.MapType:
			out = append(out, "has a map: its order must never reach a message")
		}
		return true
	})
	return out
}

// encodes reports whether a file depends on the layout of bytes.
func encodes(f *ast.File) (found bool) {
	for _, imp := range f.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		found = found || strings.HasPrefix(path, "encoding") || strings.HasPrefix(path, "github.com/vmihailenco/msgpack")
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "wire" {
				switch s.Sel.Name {
				case "Encoder", "Decoder", "AppendHeader", "ParseHeader", "Finish", "Unsealed":
					found = true
				}
			}
		}
		return true
	})
	return found
}

// Only internal/wire turns packets into bytes. The layers below it and the stack
// above it handle values.
func TestOnlyWireEncodesPackets(t *testing.T) {
	all := packages(t)
	for _, name := range []string{"timed", "datagram", "leader", "membership", "clocksync", "broadcast", "internal/stack"} {
		p := all[name]
		require.NotEmpty(t, p.GoFiles, name)
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
			require.NoError(t, err)
			require.False(t, encodes(f), "%s/%s encodes or decodes", name, file)
		}
	}
	for _, src := range []string{`import "encoding/binary"`, `import "github.com/vmihailenco/msgpack/v5"`, "var e wire.Encoder", "var _ = wire.Finish"} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+src, 0)
		require.NoError(t, err, src)
		require.True(t, encodes(f), src)
	}
}

// The guard itself must notice violations.
func TestImpuritiesAreSeen(t *testing.T) {
	for _, src := range []string{
		`import "net"`, `import "sync"`, `import "math/rand/v2"`, `import "github.com/hashicorp/go-hclog"`,
		"func f() { go f() }", "var c chan int", `import "time"; var t = time.Now()`, "var m map[int]int",
		"func f() { select {} }",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+strings.ReplaceAll(src, "; ", "\n"), 0)
		require.NoError(t, err, src)
		require.NotEmpty(t, impurities(f), src)
	}
}

func TestFilesStaySmall(t *testing.T) {
	const limit = 500
	for name, p := range packages(t) {
		for _, file := range p.GoFiles {
			b, err := os.ReadFile(filepath.Join(p.Dir, file))
			require.NoError(t, err)
			require.LessOrEqual(t, bytes.Count(b, []byte("\n")), limit, "%s/%s: is it still one idea?", name, file)
		}
	}
}

// goroutines lists the packages in which only the named files may start goroutines or
// hold locks. All other code there belongs to the one goroutine that runs it.
var goroutines = map[string][]string{
	"": {"node.go", "clock.go", "lead.go", "promiseclock.go"}, // wiring, references and the latest reading shown, contexts that watch the clock, promises
	"internal/loop": {"driver.go", "tryturn.go", // the loop's mutex, and a crash in a caller's turn
		"loop.go", "publish.go", "snapshot.go", "trust.go", // what readers share
		"findings.go",     // what goroutines that measure have found
		"incarnation.go"}, // a write that nothing waits for
	"replicate": {"run.go", "session.go"}, // the numbers that callers of a session share
}

func TestGoroutinesAndLocksAreWhereTheyBelong(t *testing.T) {
	all := packages(t)
	for name, allowed := range goroutines {
		for _, file := range all[name].GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(all[name].Dir, file), nil, 0)
			require.NoError(t, err)
			if !slices.Contains(allowed, file) {
				require.Empty(t, concurrency(f), "%s/%s", name, file)
			}
		}
	}
}

// concurrency returns the goroutines that a file starts, and its locks.
func concurrency(f *ast.File) (out []string) {
	for _, imp := range f.Imports {
		if path := strings.Trim(imp.Path.Value, `"`); path == "sync" || path == "sync/atomic" {
			out = append(out, "imports "+path)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if _, ok := n.(*ast.GoStmt); ok {
			out = append(out, "starts a goroutine")
		}
		return true
	})
	return out
}
