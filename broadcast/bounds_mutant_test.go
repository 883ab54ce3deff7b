//go:build mutants

package broadcast

import "testing"

// What holds says, a bug turns into the opposite.
func TestBoundsNoticeBugs(t *testing.T) {
	for bug, holds := range map[string]func() bool{
		"BroadcastAnswersEndless": endlessRequests,
		"BroadcastLogOfStrangers": endlessRequests,
		"BroadcastPieceOfOther":   func() bool { return !otherPieces() },
		"BroadcastTermsOfOther":   func() bool { return !otherTerms() },
		"BroadcastRecallLate":     func() bool { return !recalledLate() },
		"BroadcastSlowForgotten":  func() bool { return !slowInTheNextView() },
		"BroadcastLogsEndless":    endlessRequests,
		"BroadcastFillUnasked":    func() bool { return asksForItsFill(t) },
		"BroadcastCutKept":        func() bool { return cutsInEachView(t) },
		"BroadcastReportsKept":    func() bool { return beginsAnew(t) },
	} {
		t.Run(bug, func(t *testing.T) { noticed(t, bug, holds) })
	}
}
