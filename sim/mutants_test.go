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
	"github.com/failaware/failaware/internal/mutant/planted"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

var firstSeed = flag.Uint64("first", 1, "the first seed in which planted bugs are looked for")

// world is a kind of world. seeds is the number of seeds in which it is known to
// hold, or 0 if it holds in all.
type world struct {
	play  func(uint64, Options) error
	opt   Options
	seeds uint64
}

func scenario(play func(uint64, Options) error) world { return world{play: play, seeds: scenarioSeeds} }

// worlds are the kinds of worlds that the table of planted bugs names.
var worlds = map[string]world{
	"rough":           {play: campaign, opt: Options{Roughness: 4}},
	"rough-strict":    {play: campaign, opt: Options{Roughness: 4, Mode: leader.Strict}},
	"wan":             {play: campaign, opt: Options{Timing: timed.WAN(), Duration: 200 * time.Second}},
	"wire":            {play: campaign, opt: Options{Roughness: 4, Codec: true}},
	"servers":         {play: campaign, opt: Options{Roughness: 2, Servers: &Servers{}}},
	"global":          {play: campaign, opt: Options{Roughness: 4, Quorum: RandomQuorum}},
	"epochs":          {play: campaign, opt: Options{Roughness: 2, Quorum: RandomQuorum, Epochs: true}},
	"topology":        {play: topology, opt: Options{Nodes: 6}},
	"topology-strict": {play: topology, opt: Options{Nodes: 6, Mode: leader.Strict}},

	"merge":                   scenario(mergeKeepsWinner),
	"one-lost-packet":         scenario(oneLostPacket),
	"restarted-follower":      scenario(restartedFollower),
	"restarted-voter":         scenario(restartedVoter),
	"led-again":               scenario(ledAgain),
	"clone":                   scenario(cloneIsNoticed),
	"hand-over":               scenario(handOver),
	"named-successor":         scenario(namedSuccessor),
	"late-from-the-dead":      scenario(lateFromTheDead),
	"late-confirmation":       scenario(lateConfirmation),
	"confirmation-of-another": scenario(confirmationOfAnother),
	"excuse-out-of-hearing":   scenario(excuseOutOfHearing),
	"silent-supporter":        scenario(silentSupporter),
	"word-of-a-former-leader": scenario(wordOfAFormerLeader),
	"member-that-went-on":     scenario(memberThatWentOn),
	"taken-and-returned":      scenario(takenAndReturned),

	"collated":            {play: campaign, opt: Options{Roughness: 4, Nodes: 7, Collation: leader.Collation{Above: 3, Fanout: 2}}},
	"crashed-leaf":        scenario(crashedLeaf),
	"cut-from-the-parent": scenario(cutFromTheParent),
	"cut-from-the-leader": scenario(cutFromTheLeader),
}

func TestMutantsAreKilled(t *testing.T) {
	for _, k := range planted.Kills() {
		if k.Package != "sim" {
			continue
		}
		t.Run(k.Mutant.Name+"/"+k.World, func(t *testing.T) {
			w, ok := worlds[k.World]
			require.True(t, ok, "there is no world %q", k.World)
			mutant.Set(k.Mutant.Name)
			defer mutant.Set(mutant.None)
			seed, err := *firstSeed, error(nil)
			for ; seed < *firstSeed+k.Seeds && err == nil; seed++ {
				err = w.play(seed, w.opt)
			}
			mutant.Set(mutant.None)
			tried := seed - *firstSeed
			require.Error(t, err, "mutant %s survived %d seeds", k.Mutant.Name, tried)
			t.Log(err)
			check := "scenario"
			if v := new(Violation); errors.As(err, &v) {
				check = v.Check
			}
			t.Attr("check", check)
			t.Attr("seeds", strconv.FormatUint(tried, 10))
			require.Equal(t, cmp.Or(k.Check, check), check, "%v", err)
			require.NoError(t, w.play(seed-1, w.opt), "seed %d must pass without mutant %s", seed-1, k.Mutant.Name)
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
