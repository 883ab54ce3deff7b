package failaware

import "github.com/failaware/failaware/internal/loop"

// Lag is a member that the broadcast has waited for with no progress: Member, which is this node
// if Self is true, for the time For. Missing says that messages of Member do not come to this
// node. Otherwise it acknowledges nothing, or orders no message of this node. Its application or
// disk is slow, or large packets are lost on the way, and small ones, which make leaders and
// views, are not.
type Lag = loop.Lag

// Lags are the members that the broadcast waits for: those whose messages are missing first, and
// then in the order of ids. String names them, and the likely causes, for people.
type Lags = loop.Lags

// Lagging returns what the broadcast has waited for with no progress for more than two seconds,
// as this node saw within the last second or so. Meanwhile no message with [StrictAtomicity] has
// an outcome. It is empty if the broadcast does not wait, is off, or waits for another view.
// Lagging takes no lock, and is safe for concurrent use.
func (n *Node) Lagging() Lags {
	if isClosed(n.done) {
		return nil
	}
	return n.loop.Lags(n.clock.Now())
}
