//go:build mutants

package udp

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "internal/udp", map[string]func(testing.TB){
		"ZonesForEver":    zonesAreAskedAgain,
		"UDPWakeUnheard":  wakesAreHeard,
		"UDPWakeHides":    wakesHideNothing,
		"UDPZoneDropped":  addressesStay,
		"UDPBatchIsLater": batchesAreStamped,

		"UDPStampsDespiteSteps": steppedStampsSayNothing,
		"UDPWatchStaysOpen":     closedLeavesNothing,
		"UDPRefusedForAnother":  heldErrorsCostNoPacket,
	})
}
