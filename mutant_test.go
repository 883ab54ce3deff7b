//go:build mutants

package failaware

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, ".", map[string]func(testing.TB){
		"StateFailsWithTheSocket":  failedBeginLeavesNothing,
		"AnswerBeforeTheTurn":      answersNeedATrustedClock,
		"AnswerOfTheDistrusted":    answersNeedATrustedClock,
		"GroupOfOneEpoch":          groupsApart,
		"DriftOfZero":              wrongSettings,
		"PromiseBreaksWhenShared":  promisesAreShared,
		"PromiseGrows":             promisesEndWithTheClock,
		"PromiseOutlivesTrust":     promisesEndWithTheClock,
		"ChangeByAnother":          changesOfOthers,
		"ChangeByAFollower":        followersChangeNothing,
		"ChangeOfNobody":           followersChangeNothing,
		"CommitWaitGivesUp":        unsynchronizedWaits,
		"ClockNeverAtRest":         restlessClocksClaimNothing,
		"DeadIsNoWarning":          levelsOfEvents,
		"EdictAfterTheLead":        edictsEndWithTheLease,
		"EdictOfTheNode":           edictsAreTheirCallers,
		"EdictOfTheDistrusted":     distrustIsHeardByAll,
		"MissedBeforeTheGap":       numbersContinue,
		"WaitUsedAgain":            eachHearsOfItsOwn,
		"MembersKeptOnce":          keepsTrying,
		"DeliveryIsCertain":        deliveriesSayAll,
		"OutcomeIsRegular":         deliveriesSayAll,
		"OneOutcomeLost":           deliveriesSayAll,
		"ConfigShared":             configurationsAreCopies,
		"ConfigLent":               configurationsAreCopies,
		"TagsLent":                 configurationsAreCopies,
		"DeliveriesEndWithTheNode": deliveriesOutlastTheNode,
		"EventsGoOn":               eventsAgain,
		"SocketOutlivesTheStart":   keepsNothing,
		"AnswerToTheDone":          doneContexts,
		"LimitUnasked":             wrongSettings,
		"ForceOfTheLiving":         livingAreNotDeclaredDead,
		"ChangeBackAtOnce":         changeUnderWay,
		"ProposalOfAnother":        changeUnderWay,
		"LoopbackByEnding":         wrongSettings,
	})
}
