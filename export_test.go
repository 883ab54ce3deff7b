package failaware

import "testing"

// DrawIDs has nodes choose ids by the given numbers for the rest of the test, or at random
// if draw is nil.
func DrawIDs(t *testing.T, draw func() uint64) {
	t.Helper()
	usual := drawID
	t.Cleanup(func() { drawID = usual })
	if drawID = draw; draw == nil {
		drawID = systemRandom
	}
}
