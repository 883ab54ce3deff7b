//go:build mutants

package introduce

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/introduce", map[string]func(testing.TB){
		"IntroduceAtOne":     atEach,
		"IntroduceOnce":      tellsNewcomers,
		"IntroduceFirst":     gossips,
		"GossipsTooFew":      gossipsOfTheOther,
		"IntroduceForEver":   greets,
		"GreetSteadily":      greets,
		"IntroduceForgets":   greets,
		"IntroduceSpins":     nothingStaysDue,
		"IntroduceRemembers": greets,
		"IntroduceSteadily":  tellsNewcomers,
		"JoinSeldomAlone":    seeks,
		"IntroduceNoBounds":  bounded,
		"IntroduceAllNow":    atIntervals,
		"LabelsNotToTheOnly": tellsNewcomers,
		"JoinGivesUp":        seeks,
		"JoinChatters":       seeks,
		"JoinWaitsAlone":     seeks,
		"JoinNoBounds":       fewCandidates,
		"JoinAnew":           fewCandidates,
		"IntroduceOneAt":     eachAtOne,
		"JoinPutOff":         seeks,
	})
}
