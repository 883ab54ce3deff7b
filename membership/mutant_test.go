//go:build mutants

package membership

import (
	"testing"

	"github.com/failaware/failaware/internal/mutant/kill"
)

func TestMutantsAreKilled(t *testing.T) {
	kill.Units(t, "membership", map[string]func(testing.TB){
		"AnsweredByOne":       vouchesForAll,
		"AuditForgetsViews":   audits,
		"LineageOfTheLeader":  viewsFollow,
		"DroppedByAnyBoot":    membersConfirm,
		"IgnoreOvertaken":     equalOvertakes,
		"FormerNotLeftBehind": formerIncarnation,
		"ConfirmedInherited":  inheritedLease,
		"KeepResigned":        lateConfirmations,
		"AckOlder":            laterThanEarlier,
		"PutOffForGood":       putOffEndsWithTheLead,
		"DroppedOfAnyView":    confirmationsOfOneView,
		"ProposalLosesMember": proposalKeepsMembers,
		"ChanceOfAnyBoot":     proposalKeepsMembers,
		"InstalledOfTheLead":  announcesToAll,

		"LostNodeKeepsProposal": lostNodeLeaves,

		"ViewGrantShortened": longestLeaseCounts,
		"CommitWithoutLease": commitNeedsTime,
		"ConfirmationsKept":  confirmationsEndWithTheirView,

		"RenewResigned":       resignedIsNotInstalled,
		"ResignedUninstalled": resignedIsNotInstalled,
		"ResignedOlder":       resignedIsNotInstalled,
		"CommitWithoutMember": resignedIsNotInstalled,
	})
}
