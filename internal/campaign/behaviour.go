package campaign

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/failaware/failaware/sim"
)

// Behaviour is what the worlds of a set did, a line for each campaign. It is kept beside
// the code, so that no change of the code changes it unseen.
type Behaviour []BehaviourLine

// BehaviourLine is the behaviour of a campaign: its name, a hash of everything that its
// nodes did and claimed, and figures that people can compare, separated by tabs.
type BehaviourLine string

const behaviourHeader BehaviourLine = "campaign\tseeds\thash\tled\tfresh\telections\tviews\tdeliveries\telection-ms\tview-ms\tdelivery-ms"

// NewBehaviourLine describes the runs of a campaign.
func NewBehaviourLine(name string, t *sim.Tally) BehaviourLine {
	return BehaviourLine(fmt.Sprintf("%s\t%d\t%s\t%.4f\t%.4f\t%d\t%d\t%d\t%.1f\t%.1f\t%.1f", name, t.Seeds, t.Hash, t.Led, t.Fresh,
		t.Elections, t.Views, t.Deliveries, t.WorstElectionMS, t.WorstViewMS, t.WorstDeliveryMS))
}

// Campaign returns the name of the campaign.
func (l BehaviourLine) Campaign() string {
	name, _, _ := strings.Cut(string(l), "\t")
	return name
}

// ReadBehaviour reads a table that Write wrote.
func ReadBehaviour(r io.Reader) (b Behaviour, err error) {
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		line := BehaviourLine(strings.Join(strings.Fields(s.Text()), "\t"))
		switch columns := strings.Count(string(line), "\t"); {
		case n == 1 && line != behaviourHeader:
			return nil, fmt.Errorf("line 1: %q is not the header of a table of behaviour", s.Text())
		case columns != strings.Count(string(behaviourHeader), "\t"):
			return nil, fmt.Errorf("line %d: %q has other columns than the header", n, s.Text())
		case n > 1:
			b = append(b, line)
		}
	}
	return b, s.Err()
}

// Write writes a table.
func (b Behaviour) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, behaviourHeader) // Flush returns the error of any write
	for _, line := range b {
		fmt.Fprintln(t, line)
	}
	return t.Flush()
}

// Over returns b with the lines of the former behaviour about other campaigns, in the order of
// the table of campaigns.
func (b Behaviour) Over(former Behaviour) Behaviour {
	is, place := b.byCampaign(), map[string]int{}
	for i, c := range Table() {
		place[c.Name] = i
	}
	all := slices.Clone(b)
	for _, line := range former {
		if is[line.Campaign()] == "" {
			all = append(all, line)
		}
	}
	slices.SortStableFunc(all, func(x, y BehaviourLine) int {
		return cmp.Compare(place[x.Campaign()], place[y.Campaign()])
	})
	return all
}

// Changes writes the lines of the former behaviour that are not those of b, each above the
// present one, and those of campaigns that are new. It reports whether there are any.
func (b Behaviour) Changes(w io.Writer, former Behaviour) (changed bool, err error) {
	was, is := former.byCampaign(), b.byCampaign()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	write := func(which string, line BehaviourLine) {
		if !changed {
			fmt.Fprintln(t, "\t"+behaviourHeader) // Flush returns the error of any write
		}
		changed = true
		if line != "" {
			fmt.Fprintln(t, which+"\t"+string(line))
		}
	}
	for _, line := range former {
		if now := is[line.Campaign()]; now != line {
			write("was", line)
			write("is", now)
		}
	}
	for _, line := range b {
		if was[line.Campaign()] == "" {
			write("new", line)
		}
	}
	return changed, t.Flush()
}

func (b Behaviour) byCampaign() map[string]BehaviourLine {
	m := make(map[string]BehaviourLine, len(b))
	for _, line := range b {
		m[line.Campaign()] = line
	}
	return m
}
