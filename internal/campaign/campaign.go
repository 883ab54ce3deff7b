// Package campaign is the table of the simulated campaigns of this project: their
// worlds, their numbers of seeds, and the situations that they must reach. The program
// failaware-lab runs them, for daily work, before a change lands, and for hours. The
// planted bugs run in the same worlds.
package campaign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/situation"
)

// Campaign is a row of the table.
type Campaign struct {
	Name string
	// Purpose describes the campaign in a few words.
	Purpose string
	Options sim.Options
	// Vary, if not nil, changes the options from seed to seed.
	Vary func(seed uint64, o *sim.Options)
	// Play, if not nil, plays a seed instead of [sim.Run].
	Play func(seed uint64, o sim.Options) (sim.Result, error)
	// Check and Test are the numbers of seeds in the sets of these names; 0 means
	// that the set does not have the campaign.
	Check, Test uint64
	// Long is the share of the time of set long, relative to the other campaigns; 0
	// means that the set does not have the campaign.
	Long int
	// Rare lists situations that the options promise, but that Test seeds reach too
	// seldom to demand them.
	Rare []situation.Kind
	// Reach lists situations of an application that Test seeds must reach.
	Reach []string
}

// Set names a set of campaigns.
type Set string

// The sets.
const (
	Check Set = "check" // for daily work: seconds
	Test  Set = "test"  // before a change lands: minutes
	Long  Set = "long"  // a search for a given time
	All   Set = "all"   // every campaign, with the seeds of set test
)

// ParseSet reads the name of a set.
func ParseSet(name string) (Set, error) {
	if s := Set(name); slices.Contains([]Set{Check, Test, Long, All}, s) {
		return s, nil
	}
	return "", fmt.Errorf("there is no set %q: the sets are check, test, long and all", name)
}

// Seeds returns the number of seeds that a set runs of the campaign, or 0 if the
// set is Long or does not have it.
func (c *Campaign) Seeds(s Set) uint64 {
	switch s {
	case Check:
		return c.Check
	case Test:
		return c.Test
	case All:
		return max(c.Test, c.Check, 1)
	}
	return 0
}

// In returns the campaigns of a set, in the order of the table.
func In(s Set) []Campaign {
	return slices.DeleteFunc(Table(), func(c Campaign) bool { return c.Seeds(s) == 0 && (s != Long || c.Long == 0) })
}

// Find returns the campaign with a name. The error lists the names that resemble
// it, or all names.
func Find(name string) (Campaign, error) {
	var names, near []string
	for _, c := range Table() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
		if strings.Contains(c.Name, name) {
			near = append(near, c.Name)
		}
	}
	if name != "" && len(near) > 0 {
		names = near
	}
	return Campaign{}, fmt.Errorf("there is no campaign %q, but %s", name, strings.Join(names, ", "))
}

// OptionsOf returns the options of a seed.
func (c *Campaign) OptionsOf(seed uint64) sim.Options {
	o := c.Options
	if c.Vary != nil {
		c.Vary(seed, &o)
	}
	return o
}

// Missing returns the situations that the campaign must reach in Test seeds, and has
// not.
func (c *Campaign) Missing(t *sim.Tally) (missing []string) {
	if c.Test == 0 || t.Seeds < c.Test {
		return nil
	}
	for _, name := range c.Demands() {
		if t.Sometimes[name]+t.Reached[name] == 0 {
			missing = append(missing, name)
		}
	}
	return missing
}

// Demands returns the situations that Test seeds must reach.
func (c *Campaign) Demands() (names []string) {
	if c.Play != nil || c.Vary != nil {
		return c.Reach
	}
	for _, s := range sim.Expected(c.Options) {
		if !slices.Contains(c.Rare, s) {
			names = append(names, s.String())
		}
	}
	return append(names, c.Reach...)
}
