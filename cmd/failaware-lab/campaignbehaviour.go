package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/failaware/failaware/internal/campaign"
	"github.com/failaware/failaware/internal/cli"
)

// errBehaviour is the error for the exit code; the lines that differ are printed.
var errBehaviour = errors.New("nodes behave otherwise than the file says: if that is meant, write the file with --update, " +
	"and say in the commit why; if not, it is a bug")

// openBehaviour reads the file of --behaviour, before anything runs.
func (r *campaignRun) openBehaviour() error {
	path := r.flags.behaviour
	if path == "" || r.flags.update && !r.named {
		return nil
	}
	f, err := os.Open(path)
	if r.flags.update && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("--behaviour: %w", err)
	}
	defer f.Close()
	if r.former, err = campaign.ReadBehaviour(f); err != nil {
		return fmt.Errorf("--behaviour: %s: %w", path, err)
	}
	if r.named && !r.flags.update { // campaigns that were not asked for are not missing
		r.former = slices.DeleteFunc(r.former, func(l campaign.BehaviourLine) bool {
			return !slices.ContainsFunc(r.rows, func(c campaign.Campaign) bool { return c.Name == l.Campaign() })
		})
	}
	return nil
}

// behaviourArch is the architecture of the files of make behaviour. Others round sums of
// products differently, and so draw different worlds.
const behaviourArch = "amd64"

// behaves compares the behaviour of the campaigns with the file of --behaviour, or writes
// that file.
func (r *campaignRun) behaves() error {
	path := r.flags.behaviour
	if path == "" {
		return nil
	}
	var b campaign.Behaviour
	for i := range r.results {
		b = append(b, campaign.NewBehaviourLine(r.results[i].Name, &r.results[i].Tally))
	}
	if r.flags.update {
		return writeBehaviour(path, b.Over(r.former))
	}
	if runtime.GOARCH != behaviourArch {
		fmt.Fprintf(r.err, "failaware-lab: %s is of %s, and is not compared\n", path, behaviourArch)
		return nil
	}
	changed, err := b.Changes(r.err, r.former)
	if err == nil && changed {
		err = fmt.Errorf("%s: %w", path, errBehaviour)
	}
	if err != nil {
		return cli.No(err)
	}
	return nil
}

func writeBehaviour(path string, b campaign.Behaviour) error {
	f, err := os.Create(path)
	if err != nil {
		return cli.WrongUsage(fmt.Errorf("--behaviour: %w", err))
	}
	return errors.Join(b.Write(f), f.Close())
}
