//go:build mutants

package sim

import (
	"cmp"
	"errors"
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
	"github.com/failaware/failaware/internal/mutant/kill"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

var firstSeed = flag.Uint64("first", 1, "the first seed in which planted bugs are looked for")

// worlds are the kinds of worlds that the table of kills names.
var worlds = map[string]struct {
	play func(uint64, Options) error
	opt  Options
}{
	"rough":           {campaign, Options{Roughness: 4}},
	"rough-strict":    {campaign, Options{Roughness: 4, Mode: leader.Strict}},
	"wan":             {campaign, Options{Timing: timed.WAN(), Duration: 200 * time.Second}},
	"wire":            {campaign, Options{Roughness: 4, Codec: true}},
	"servers":         {campaign, Options{Roughness: 2, Servers: &Servers{}}},
	"global":          {campaign, Options{Roughness: 4, Quorum: RandomQuorum}},
	"epochs":          {campaign, Options{Roughness: 2, Quorum: RandomQuorum, Epochs: true}},
	"topology":        {topology, Options{Nodes: 6}},
	"topology-strict": {topology, Options{Nodes: 6, Mode: leader.Strict}},

	"merge":                   {play: mergeKeepsWinner},
	"one-lost-packet":         {play: oneLostPacket},
	"restarted-follower":      {play: restartedFollower},
	"restarted-voter":         {play: restartedVoter},
	"led-again":               {play: ledAgain},
	"clone":                   {play: cloneIsNoticed},
	"hand-over":               {play: handOver},
	"named-successor":         {play: namedSuccessor},
	"late-from-the-dead":      {play: lateFromTheDead},
	"late-confirmation":       {play: lateConfirmation},
	"confirmation-of-another": {play: confirmationOfAnother},
	"excuse-out-of-hearing":   {play: excuseOutOfHearing},
	"silent-supporter":        {play: silentSupporter},
	"word-of-a-former-leader": {play: wordOfAFormerLeader},
	"member-that-went-on":     {play: memberThatWentOn},
	"taken-and-returned":      {play: takenAndReturned},

	"collated":            {campaign, Options{Roughness: 4, Nodes: 7, Collation: leader.Collation{Above: 3, Fanout: 2}}},
	"crashed-leaf":        {play: crashedLeaf},
	"cut-from-the-parent": {play: cutFromTheParent},
	"cut-from-the-leader": {play: cutFromTheLeader},
}

func TestMutantsAreKilled(t *testing.T) {
	for _, k := range kill.Table {
		if k.Package != "sim" {
			continue
		}
		t.Run(k.Mutant.String()+"/"+k.World, func(t *testing.T) {
			w, ok := worlds[k.World]
			require.True(t, ok, "there is no world %q", k.World)
			mutant.Set(k.Mutant)
			defer mutant.Set(mutant.None)
			seed, err := *firstSeed, error(nil)
			for ; seed < *firstSeed+k.Seeds && err == nil; seed++ {
				err = w.play(seed, w.opt)
			}
			mutant.Set(mutant.None)
			tried := seed - *firstSeed
			require.Error(t, err, "mutant %v survived %d seeds", k.Mutant, tried)
			t.Log(err)
			check := "scenario"
			if v := new(Violation); errors.As(err, &v) {
				check = v.Check
			}
			t.Attr("check", check)
			t.Attr("seeds", strconv.FormatUint(tried, 10))
			require.Equal(t, cmp.Or(k.Check, check), check, "%v", err)
			require.NoError(t, w.play(seed-1, w.opt), "seed %d must pass without mutant %v", seed-1, k.Mutant)
		})
	}
}

// campaign runs random worlds.
func campaign(seed uint64, opt Options) error {
	r, err := Run(seed, opt)
	if err == nil && r.Violation != nil {
		err = r.Violation
	}
	return err
}

// topology runs still worlds of arbitrary connectivity.
func topology(seed uint64, opt Options) error {
	r, err := RunTopology(seed, opt)
	if err == nil && r.Violation != nil {
		err = r.Violation
	}
	return err
}
