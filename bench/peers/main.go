// Command peers runs failaware beside hashicorp/raft, etcd, NATS JetStream, memberlist and
// corosync: the same work in the same run on the same machine. docs/reference/benchmarks.md
// has its results.
//
//	peers [--quick | --smoke] [--only NAMES] [--parts NAMES] [--out FILE.json] [--svg FILE.svg]
//	peers show FILE.json        # the tables again, as Markdown
//	peers draw FILE.json        # the picture, as SVG
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// options are the choices of a run.
type options struct {
	nodes           int
	only            []string
	parts           []string
	dir             string
	rounds          int // crashes, as many as part allows
	splits          int
	part            time.Duration // for the crashes, the splits, and the faults of one kind
	hog             time.Duration
	idle            time.Duration
	settle          time.Duration // after it
	faults          int           // of each kind
	slow            time.Duration // at 100 messages a second
	saturated, rest time.Duration
	sizes           []int // of messages
	callers         []int // of durable operations at saturation
	defaults        bool  // measure default settings too
	began           time.Time
	out             io.Writer // progress
	keep            func(*Result) error
}

// quickly, barely and wholly return the sizes of a run.
func quickly() options {
	return options{rounds: 5, splits: 2, part: 8 * time.Second, hog: 3 * time.Second, idle: 2 * time.Second, settle: 300 * time.Millisecond, faults: 2,
		slow: time.Second, saturated: time.Second, rest: time.Second, sizes: sizes, callers: []int{768}}
}

func barely() options {
	return options{rounds: 1, splits: 1, hog: time.Second, idle: time.Second, settle: 100 * time.Millisecond, faults: 1,
		slow: 200 * time.Millisecond, saturated: 200 * time.Millisecond, sizes: sizes[:1], callers: []int{48}}
}

func wholly() options {
	return options{rounds: 30, splits: 8, part: 10 * time.Second, hog: 8 * time.Second, idle: 8 * time.Second, settle: 500 * time.Millisecond, faults: 8,
		slow: 2 * time.Second, saturated: 2 * time.Second, rest: time.Second, sizes: sizes, callers: []int{192, 768, 3072}, defaults: true}
}

func (o *options) progress(format string, args ...any) {
	fmt.Fprintf(o.out, "%4.0fs %s\n", time.Since(o.began).Seconds(), fmt.Sprintf(format, args...))
}

// name is that of a group in progress.
func (o *options) name(g *group) string {
	if g.tight {
		return g.sys.name + " (tight)"
	}
	return g.sys.name
}

func main() {
	if err := do(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func do(args []string, in io.Reader, out, progress io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "member":
			return serve(in, out)
		case "hog":
			return hog(args[1:])
		case "show", "draw":
			if len(args) != 2 {
				return fmt.Errorf("%s FILE.json", args[0])
			}
			r, err := load(args[1])
			if err != nil {
				return err
			}
			if args[0] == "show" {
				return r.markdown(out)
			}
			return r.draw(out)
		}
	}
	return compare(args, out, progress)
}

// compare runs the comparison.
func compare(args []string, out, progress io.Writer) error {
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(progress)
	smoke := f.Bool("smoke", false, "see in less than a minute that all runs; the figures mean nothing")
	quick := f.Bool("quick", false, "about 3 minutes instead of 20")
	only := f.String("only", strings.Join(order, ","), "the systems")
	parts := f.String("parts", "leading,messages,storing", "the parts of the comparison")
	nodes := f.Int("nodes", 3, "processes of each system")
	dir := f.String("dir", os.TempDir(), "where logs and states are: durable operations are as fast as this disk")
	file := f.String("out", "", "write the results to this file, as JSON")
	svg := f.String("svg", "", "draw the results into this file")
	if err := f.Parse(args); err != nil {
		return err
	}
	o := wholly()
	switch {
	case *smoke:
		o = barely()
	case *quick:
		o = quickly()
	}
	o.only, o.parts, o.nodes, o.dir = strings.Split(*only, ","), strings.Split(*parts, ","), *nodes, *dir
	o.began, o.out = time.Now(), progress
	if err := o.check(f.Args()); err != nil {
		return err
	}
	o.keep = func(r *Result) error { // after each part, since the next one may be interrupted
		var err error
		if *file != "" {
			err = save(*file, func(w io.Writer) error { return encode(w, r) })
		}
		if *svg != "" {
			err = errors.Join(err, save(*svg, r.draw))
		}
		return err
	}
	r, err := o.run()
	if err != nil {
		return err
	}
	if err := r.markdown(out); err != nil {
		return err
	}
	if r.broken {
		return errors.New("not all could be measured: the notes say why")
	}
	return nil
}

// check returns an error if the choices make no sense.
func (o *options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	for _, name := range o.only {
		if systems[name] == nil {
			return fmt.Errorf("--only %s: there are %s", name, strings.Join(order, ","))
		}
	}
	for _, p := range o.parts {
		switch use(p) {
		case forLeading, forMessages, forStoring:
		default:
			return fmt.Errorf("--parts %s: there are leading,messages,storing", p)
		}
	}
	if o.nodes < 3 || o.nodes > 9 {
		return fmt.Errorf("--nodes %d: 3 to 9 are possible", o.nodes)
	}
	return nil
}

// save writes a file whole.
func save(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func encode(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// load reads a file of results.
func load(path string) (*Result, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Result)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
