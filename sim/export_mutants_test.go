//go:build mutants

package sim

import "fmt"

// ScenarioSeeds is the number of seeds in which every scenario holds.
const ScenarioSeeds = scenarioSeeds

// Scenarios are the scenarios that the table of planted bugs names.
var Scenarios = map[string]func(seed uint64) error{
	"merge":                   plain(mergeKeepsWinner),
	"one-lost-packet":         plain(oneLostPacket),
	"restarted-follower":      plain(restartedFollower),
	"restarted-voter":         plain(restartedVoter),
	"led-again":               plain(ledAgain),
	"clone":                   plain(cloneIsNoticed),
	"hand-over":               plain(handOver),
	"named-successor":         plain(namedSuccessor),
	"late-from-the-dead":      plain(lateFromTheDead),
	"late-confirmation":       plain(lateConfirmation),
	"confirmation-of-another": plain(confirmationOfAnother),
	"excuse-out-of-hearing":   plain(excuseOutOfHearing),
	"silent-supporter":        plain(silentSupporter),
	"word-of-a-former-leader": plain(wordOfAFormerLeader),
	"member-that-went-on":     plain(memberThatWentOn),
	"taken-and-returned":      plain(takenAndReturned),
	"crashed-leaf":            plain(crashedLeaf),
	"cut-from-the-parent":     plain(cutFromTheParent),
	"cut-from-the-leader":     plain(cutFromTheLeader),
	"crashed-leader":          plain(crashedLeader),
	"crashed-with-the-next":   plain(crashedWithTheNext),
	"crashed-after-a-return":  plain(crashedAfterReturn),
	"crashed-out-of-hearing":  plain(crashedOutOfHearing),
	"damaged-packets":         plain(damagedPacketsHeal),
	"moving-addresses":        plain(movesAreFollowed),
	"broadcast-cut":           caughtPanics(broadcastAroundACut),
	"broadcast-fragments":     caughtPanics(broadcastFragments),
	"broadcast-slow":          caughtPanics(broadcastSlowConsumer),
}

func plain(play func(uint64, Options) error) func(uint64) error {
	return caughtPanics(func(seed uint64) error { return play(seed, Options{}) })
}

// caughtPanics makes an error of a panic, which a bug causes that makes the state of
// a machine impossible.
func caughtPanics(play func(uint64) error) func(uint64) error {
	return func(seed uint64) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("seed %d: panic: %v", seed, r)
			}
		}()
		return play(seed)
	}
}
