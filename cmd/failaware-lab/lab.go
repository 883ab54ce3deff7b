package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/sim/diagram"
	"github.com/failaware/failaware/sim/lab"
)

// labFlags are the flags of the command that compares elections.
type labFlags struct {
	algorithms, scenario string
	seeds, jobs          int
	first                uint64
	csv, plot, diagram   string
	from, to             time.Duration
	list                 bool
}

func newLabCommand() *cobra.Command {
	var f labFlags
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Compare textbook elections with our own, in the simulator",
		Long: `Run elections in one scenario after the other, all with the same links, clocks,
faults and seeds: the ring, bully and invitation algorithms, majority leases, Nerio,
and our own local election. Every specification of the literature is checked after
every event; a table shows which are violated, with the first seed, and the cost of an
election. --list names algorithms and scenarios.

A '!' marks a specification that an algorithm promises under all circumstances and
violates; the exit code is then 1.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := windowNeedsDiagram(cmd.Flags().Changed, f.diagram); err != nil {
				return cli.WrongUsage(err)
			}
			return f.run(cmd)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.algorithms, "algorithms", "all", "names separated by commas, or all")
	fl.StringVar(&f.scenario, "scenario", "all", "names separated by commas, or all")
	fl.IntVar(&f.seeds, "seeds", 5, fmt.Sprintf("how many seeds each runs with, 1 to %d", lab.MaxSeeds))
	fl.Uint64Var(&f.first, "first", 1, "the first seed")
	fl.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "number of runs in parallel")
	fl.StringVar(&f.csv, "csv", "", "write the rows to this file, with all specifications")
	fl.StringVar(&f.plot, "plot", "", "draw the rows of one scenario into this file (.svg)")
	fl.StringVar(&f.diagram, "diagram", "", "draw the first seed of one algorithm in one scenario into this file (.svg)")
	fl.DurationVar(&f.from, "from", 9900*time.Millisecond, "where the diagram begins")
	fl.DurationVar(&f.to, "to", 10400*time.Millisecond, "where the diagram ends")
	fl.BoolVar(&f.list, "list", false, "list algorithms and scenarios")
	return cmd
}

// plan returns the plan, or an error that names the wrong flag.
func (f *labFlags) plan(stderr io.Writer) (p lab.Plan, err error) {
	if p.Algorithms, err = lab.FindAlgorithms(f.algorithms); err != nil {
		return p, fmt.Errorf("--algorithms: %w", err)
	}
	if p.Scenarios, err = lab.FindScenarios(f.scenario); err != nil {
		return p, fmt.Errorf("--scenario: %w", err)
	}
	if f.seeds < 1 || f.seeds > lab.MaxSeeds {
		return p, fmt.Errorf("--seeds: %d is outside [1, %d]", f.seeds, lab.MaxSeeds)
	}
	if f.first < 1 || f.first > math.MaxUint64-uint64(f.seeds-1) {
		return p, fmt.Errorf("--first: there are no %d seeds from %d on", f.seeds, f.first)
	}
	if f.jobs < 1 {
		return p, fmt.Errorf("--jobs: %d is below 1", f.jobs)
	}
	if err := errors.Join(hasDirectory("--csv", f.csv), hasDirectory("--plot", f.plot), hasDirectory("--diagram", f.diagram)); err != nil {
		return p, err
	}
	if f.plot != "" && len(p.Scenarios) != 1 {
		return p, errors.New("--plot: draws one scenario")
	}
	if err := checkPicture("plot", f.plot); err != nil {
		return p, err
	}
	if f.diagram != "" {
		if f.csv != "" || f.plot != "" {
			return p, errors.New("--diagram: draws one run, and there are no rows for --csv and --plot")
		}
		if len(p.Scenarios) != 1 || len(p.Algorithms) != 1 {
			return p, errors.New("--diagram: draws one algorithm in one scenario")
		}
		if err := checkPicture("diagram", f.diagram); err != nil {
			return p, err
		}
		if f.from < 0 || f.to <= f.from || f.to > p.Scenarios[0].Duration {
			return p, fmt.Errorf("--from, --to: there is no time from %v to %v in %v", f.from, f.to, p.Scenarios[0].Duration)
		}
	}
	p.First, p.Seeds, p.Jobs = f.first, f.seeds, f.jobs
	told := time.Now()
	p.Progress = func(rows, of int) {
		if time.Since(told) > 2*time.Second {
			told = time.Now()
			fmt.Fprintf(stderr, "lab: %d of %d rows\n", rows, of)
		}
	}
	return p, nil
}

func (f *labFlags) run(cmd *cobra.Command) error {
	if f.list {
		return listLab(cmd)
	}
	p, err := f.plan(cmd.ErrOrStderr())
	if err != nil {
		return cli.WrongUsage(err)
	}
	if f.diagram != "" {
		return f.draw(&p.Algorithms[0], &p.Scenarios[0])
	}
	ctx, restore := interruptible(cmd.Context(), cmd.ErrOrStderr())
	defer restore()
	rows, err := lab.Compare(ctx, p)
	if err != nil && (ctx.Err() == nil || len(rows) == 0) {
		return cli.No(err)
	}
	// The rows took long, so they are printed before files are written: a disk may be full.
	if err := errors.Join(printLab(cmd, rows), f.files(&p.Scenarios[0], rows)); err != nil {
		return cli.No(err)
	}
	if err != nil {
		return cli.Printed(err)
	}
	return promised(rows)
}

// promised returns an error if an algorithm has violated what it promises.
func promised(rows []lab.Row) error {
	for i := range rows {
		for _, t := range rows[i].Specs {
			if t.Promised && t.Violated > 0 {
				return cli.Printed(errViolation)
			}
		}
	}
	return nil
}

// files writes the chosen files.
func (f *labFlags) files(s *lab.Scenario, rows []lab.Row) error {
	if f.csv != "" {
		if err := writeFile(f.csv, func(w io.Writer) error { return lab.WriteCSV(w, rows) }); err != nil {
			return fmt.Errorf("--csv: %w", err)
		}
	}
	if f.plot != "" {
		title := s.Name + ": " + s.Title
		if err := writeFile(f.plot, func(w io.Writer) error { return lab.WritePlot(w, title, rows) }); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	return nil
}

// draw draws a part of one run.
func (f *labFlags) draw(a *lab.Algorithm, s *lab.Scenario) error {
	rec, err := lab.Record(*a, *s, f.first, f.from, f.to)
	if err != nil {
		return cli.No(err)
	}
	r := diagram.Of(rec, nil)
	r.Title, r.Subtitle = a.Title, fmt.Sprintf("%s, seed %d", s.Title, f.first)
	render := func(w io.Writer) error { return diagram.Render(w, r, diagram.Options{HideKeepalives: true}) }
	if err := writeFile(f.diagram, render); err != nil {
		return cli.No(fmt.Errorf("--diagram: %w", err))
	}
	return nil
}

// labName is the JSON form of the name of an algorithm or a scenario.
type labName struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Title string `json:"title"`
}

func listLab(cmd *cobra.Command) error {
	var names []labName
	for _, a := range lab.Algorithms() {
		names = append(names, labName{"algorithm", a.Name, a.Title})
	}
	for _, s := range lab.Scenarios() {
		names = append(names, labName{"scenario", s.Name, s.Title})
	}
	return printList(cmd, names, func(w io.Writer) error {
		t := cli.NewTable(w)
		for _, n := range names {
			t.Row(n.Kind, n.Name, n.Title)
		}
		return t.Flush()
	})
}

func printLab(cmd *cobra.Command, rows []lab.Row) error {
	lines := make([]lab.Line, len(rows))
	for i := range rows {
		lines[i] = rows[i].Line()
	}
	return cli.Print(cmd, lines, func(w io.Writer) error { return writeLab(w, rows) })
}

func writeLab(w io.Writer, rows []lab.Row) error {
	t := cli.NewTable(w)
	t.Row("SCENARIO", "ALGORITHM", "MSG/ELECTION", "TIME TO ELECT", "CHANGES/H", "LED", "TWO LEADERS", "MSG/S", "VIOLATED (FIRST SEED)")
	for i := range rows {
		r := &rows[i]
		t.Row(r.Scenario, r.Algorithm, fmt.Sprintf("%.1f", r.MessagesPerElection()), cli.Brief(r.TimeToElect()), fmt.Sprintf("%.0f", r.ChangesPerHour()),
			fmt.Sprintf("%.2f%%", 100*r.LedShare()), fmt.Sprintf("%.2f%%", 100*r.TwoShare()), fmt.Sprintf("%.0f", r.MessagesPerSecond()), cli.Dash(r.Broken()))
	}
	return t.Flush()
}
