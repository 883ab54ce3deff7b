// Command sweep makes thousands of small changes in copies of the code, one at a time,
// and looks which of them no test notices. Nobody chose the changes: they are all that
// a list of usual mistakes allows. docs/internals/mutation.md says which, and has the results.
//
//	go run ./internal/mutant/sweep -sample 100 ./leader ./membership
//	go run ./internal/mutant/sweep -only leader/vote.go:8 ./leader
//
// All changes are built at once, each behind a switch, so that trying one costs a run of
// a test and no build.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/mutant/planted"
)

func main() {
	sample := flag.Int("sample", 0, "how many changes of each package are tried; 0: all")
	seed := flag.Uint64("seed", 1, "of the sample")
	only := flag.String("only", "", "try only changes at these places: PACKAGE/FILE.go:LINE,..., or beginnings of such")
	kind := flag.String("kind", "", "try only changes of this kind, such as 'forgotten field'")
	campaigns := flag.String("campaigns", strings.Join(usual, ","), "the simulated campaigns that are tried last")
	seeds := flag.Int("seeds", 6, "how many seeds of each")
	tests := flag.String("tests", "", "packages, such as cmd/failaware or . for the library, whose short tests are tried besides")
	log := flag.String("log", "", "append an object for each change that was tried to a file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	w := workshop{campaigns: strings.Split(*campaigns, ","), seeds: *seeds, tests: strings.FieldsFunc(*tests, func(r rune) bool { return r == ',' }), built: map[string]*killer{}}
	c := choice{*sample, *seed, strings.Split(*only, ","), *kind}
	if err := w.run(ctx, c, *log, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		os.Exit(1)
	}
}

// A choice says which changes of a package are tried.
type choice struct {
	sample int
	seed   uint64
	places []string // the beginnings of their places
	kind   string   // empty: any
}

func (w *workshop) run(ctx context.Context, which choice, log string, patterns []string) error {
	root, err := planted.Root()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sweep-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w.root, w.dir = root, dir
	changes, overlay, err := plant(ctx, root, dir, patterns)
	if err != nil {
		return err
	}
	w.overlay = overlay
	pkgs, err := w.packages(ctx, patterns)
	if err != nil {
		return err
	}
	out := os.Stdout
	if log != "" {
		if out, err = os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
			return err
		}
		defer out.Close()
	}
	if w.equivalent, err = known(equivalents); err != nil {
		return err
	}
	none := true
	for _, pkg := range pkgs {
		some := which.of(changes, pkg)
		none = none && len(some) == 0
		if err := w.sweep(ctx, pkg, some, json.NewEncoder(out)); err != nil {
			return err
		}
	}
	if none {
		return errors.New("there are no such changes")
	}
	return nil
}

// of returns the changes of a package that are tried, in their order.
func (x *choice) of(all []change, pkg string) (some []change) {
	for _, c := range all {
		if c.pkg == pkg && (x.kind == "" || c.kind == x.kind) && slices.ContainsFunc(x.places, func(p string) bool {
			return c.place() == p || strings.HasPrefix(c.place(), p) && !isDigit(c.place()[len(p):])
		}) {
			some = append(some, c)
		}
	}
	if x.sample > 0 && x.sample < len(some) {
		h := fnv.New64a()
		h.Write([]byte(pkg))
		r := rand.New(rand.NewPCG(x.seed, h.Sum64()))
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[:x.sample]
		slices.SortFunc(some, func(a, b change) int { return a.id - b.id })
	}
	return some
}

func isDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func (c *change) place() string { return fmt.Sprintf("%s/%s:%d", c.pkg, c.file, c.line) }

// A result says what noticed a change.
type result struct {
	Package string  `json:"package"`
	Place   string  `json:"place"`
	Kind    string  `json:"kind"`
	Text    string  `json:"text"`
	By      string  `json:"by,omitempty"` // empty: nothing did
	Seconds float64 `json:"seconds"`
}

// sweep tries changes of one package.
func (w *workshop) sweep(ctx context.Context, pkg string, changes []change, out *json.Encoder) error {
	if len(changes) == 0 {
		return nil
	}
	killers, err := w.killers(ctx, pkg)
	if err != nil {
		return err
	}
	lived, same, began := 0, 0, time.Now()
	for _, c := range changes {
		if w.equivalent[c.name()] != "" {
			same++
			continue
		}
		r := result{Package: pkg, Place: c.place(), Kind: c.kind, Text: c.text}
		start := time.Now()
		for _, k := range killers {
			killed, _, err := k.play(ctx, c.id)
			if err != nil {
				return err
			}
			if killed {
				r.By = k.name
				break
			}
		}
		r.Seconds = time.Since(start).Seconds()
		if r.By == "" {
			lived++
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", r.Place, r.Kind, r.Text)
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "%s: %d of %d noticed, %d more are equivalent, in %v\n", pkg, len(changes)-lived-same, len(changes)-same, same,
		time.Since(began).Round(time.Second))
	return nil
}
