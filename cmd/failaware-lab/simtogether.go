package main

import (
	"errors"
	"fmt"

	"github.com/failaware/failaware/internal/cli"
)

// one reports whether a single run is asked for, and not a campaign.
func (f *simFlags) one() bool { return f.given("seed") || f.replay != "" }

// together reports flags that contradict each other, or lack another one.
func (f *simFlags) together(output cli.Format) error {
	for _, rule := range []func(*simFlags) error{(*simFlags).whatRuns, (*simFlags).whatComesOut, (*simFlags).window} {
		if err := rule(f); err != nil {
			return err
		}
	}
	if f.trace && output != cli.AsTable {
		return fmt.Errorf("--trace: prints lines of text, which do not go with -o %s", output)
	}
	return nil
}

// whatRuns checks the flags that choose the runs.
func (f *simFlags) whatRuns() error {
	if f.replay != "" {
		for _, flag := range []string{"seed", "seconds", "nodes", "mode", "rank", "preset", "roughness", "calm", "broken-clocks", "codec", "topologies", "collate"} {
			if f.given(flag) {
				return fmt.Errorf("--%s: the case of --replay says it", flag)
			}
		}
	}
	if f.one() {
		for _, flag := range []string{"seeds", "time", "first-seed", "jobs", "require-coverage"} {
			if f.given(flag) {
				return fmt.Errorf("--%s: is for campaigns, and not for the one run of --seed or --replay", flag)
			}
		}
	}
	switch {
	case f.topologies > 0 && f.given("seeds"):
		return errors.New("--seeds: --topologies says how many")
	case f.topologies > 0 && (f.calm || f.brokenClocks || f.given("roughness")):
		return errors.New("--topologies: has no random faults, so that --calm, --roughness and --broken-clocks say nothing")
	case f.calm && f.given("roughness"):
		return errors.New("--roughness: a calm world has no random faults")
	}
	return nil
}

// whatComesOut checks the flags that choose what becomes of the runs.
func (f *simFlags) whatComesOut() error {
	if f.topologies > 0 {
		for _, flag := range []string{"shrink", "save", "diagram", "require-coverage"} {
			if f.given(flag) {
				return fmt.Errorf("--%s: does not go with --topologies, whose worlds have no list of faults", flag)
			}
		}
	}
	switch {
	case f.trace && !f.one():
		return errors.New("--trace: needs --seed or --replay, since a trace is of one run")
	case f.diagram != "" && !f.one():
		return errors.New("--diagram: needs --seed or --replay, since a diagram is of one run")
	case f.given("save") && f.save == "":
		return errors.New("--save: needs the name of a file")
	case f.given("diagram") && f.diagram == "":
		return errors.New("--diagram: needs the name of a file")
	case f.given("report") && f.report == "":
		return errors.New("--report: needs the name of a file")
	case f.given("replay") && f.replay == "":
		return errors.New("--replay: needs the name of a file")
	}
	return nil
}

// window checks the flags of the diagram.
func (f *simFlags) window() error {
	if err := checkPicture("diagram", f.diagram); err != nil {
		return err
	}
	for _, flag := range []string{"from", "to"} {
		if f.given(flag) && f.diagram == "" {
			return fmt.Errorf("--%s: is for --diagram", flag)
		}
	}
	switch {
	case f.from < 0:
		return fmt.Errorf("--from: %v is below 0", f.from)
	case f.given("to") && f.to <= f.from:
		return fmt.Errorf("--to: %v is not after --from, %v", f.to, f.from)
	}
	return nil
}
