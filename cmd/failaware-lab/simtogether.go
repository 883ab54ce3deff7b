package main

import (
	"errors"
	"fmt"

	"github.com/failaware/failaware/internal/cli"
)

// one reports whether the flags choose a single run instead of a campaign.
func (f *simFlags) one() bool { return f.given("seed") || f.replay != "" }

// together returns an error if flags contradict each other or lack another one.
func (f *simFlags) together(output cli.Format) error {
	for _, rule := range []func(*simFlags) error{(*simFlags).checkRuns, (*simFlags).checkOutput, (*simFlags).checkWindow} {
		if err := rule(f); err != nil {
			return err
		}
	}
	if f.trace && output != cli.AsTable {
		return fmt.Errorf("--trace: prints lines of text and cannot be combined with -o %s", output)
	}
	return nil
}

// checkRuns checks the flags that choose the runs.
func (f *simFlags) checkRuns() error {
	if err := f.checkWorld(); err != nil {
		return err
	}
	if f.one() {
		for _, flag := range []string{"seeds", "time", "first-seed", "jobs", "require-coverage"} {
			if f.given(flag) {
				return fmt.Errorf("--%s: is for campaigns, not for the single run of --seed or --replay", flag)
			}
		}
	}
	switch {
	case f.topologies > 0 && f.given("seeds"):
		return errors.New("--seeds: --topologies determines the number")
	case f.topologies > 0 && f.given("seconds"):
		return errors.New("--seconds: --topologies determines the time: that of an election")
	case f.topologies > 0 && (f.calm || f.brokenClocks || f.given("roughness")):
		return errors.New("--topologies: has no random faults, so --calm, --roughness and --broken-clocks do not apply")
	case f.calm && f.given("roughness"):
		return errors.New("--roughness: a calm world has no random faults")
	}
	return nil
}

// worldFlags choose the worlds.
var worldFlags = []string{"seconds", "nodes", "mode", "rank", "preset", "roughness", "calm", "broken-clocks", "uneven", "codec",
	"topologies", "collate", "references", "broadcast", "quorum", "epochs"}

// checkWorld checks that one flag or one set of flags chooses the worlds.
func (f *simFlags) checkWorld() error {
	for _, flag := range worldFlags {
		switch {
		case f.replay != "" && f.given(flag):
			return fmt.Errorf("--%s: the case of --replay determines it", flag)
		case f.row != nil && f.given(flag):
			return fmt.Errorf("--%s: the campaign of --campaign determines it", flag)
		}
	}
	switch {
	case f.replay != "" && f.given("seed"):
		return errors.New("--seed: the case of --replay determines it")
	case f.replay != "" && f.given("campaign"):
		return errors.New("--campaign: the case of --replay determines it")
	}
	return nil
}

// checkOutput checks the flags that choose the output.
func (f *simFlags) checkOutput() error {
	if f.plays() != nil {
		with := "--topologies, whose worlds have"
		if f.row != nil {
			with = "--campaign " + f.row.Name + ", whose runs have"
		}
		for _, flag := range []string{"shrink", "save", "diagram", "require-coverage"} {
			if f.given(flag) {
				return fmt.Errorf("--%s: cannot be combined with %s no list of faults", flag, with)
			}
		}
	}
	switch {
	case f.trace && !f.one():
		return errors.New("--trace: needs --seed or --replay")
	case f.diagram != "" && !f.one():
		return errors.New("--diagram: needs --seed or --replay")
	case f.given("save") && f.save == "":
		return errors.New("--save: needs the name of a file")
	case f.given("diagram") && f.diagram == "":
		return errors.New("--diagram: needs the name of a file")
	case f.given("report") && f.report == "":
		return errors.New("--report: needs the name of a file")
	case f.given("replay") && f.replay == "":
		return errors.New("--replay: needs the name of a file")
	case f.given("quorum") && f.quorum == "":
		return errors.New("--quorum: needs a quorum system")
	case f.given("campaign") && f.campaign == "":
		return errors.New("--campaign: needs the name of a campaign")
	}
	return nil
}

// checkWindow checks the flags of the diagram.
func (f *simFlags) checkWindow() error {
	if err := checkPicture("diagram", f.diagram); err != nil {
		return err
	}
	if err := windowNeedsDiagram(f.given, f.diagram); err != nil {
		return err
	}
	switch {
	case f.from < 0:
		return fmt.Errorf("--from: %v is below 0", f.from)
	case f.given("to") && f.to <= f.from:
		return fmt.Errorf("--to: %v is not after --from, %v", f.to, f.from)
	}
	return nil
}

// windowNeedsDiagram refuses the ends of a diagram where there is none.
func windowNeedsDiagram(given func(flag string) bool, diagram string) error {
	for _, flag := range []string{"from", "to"} {
		if given(flag) && diagram == "" {
			return fmt.Errorf("--%s: needs --diagram", flag)
		}
	}
	return nil
}
