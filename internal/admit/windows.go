package admit

import "github.com/failaware/failaware/timed"

const (
	// windowBits is how far a packet may be behind the newest one of its incarnation.
	// An incarnation counts its packets to all peers together.
	windowBits  = 8192
	wordBits    = 64
	windowWords = windowBits / wordBits

	// windowsPerNode is how many incarnations of a node are remembered, the accepted one among
	// them. Packets of others count as new when they come again, but echo no living incarnation.
	windowsPerNode = 4
)

// Window keeps which packets of an incarnation have come, as RFC 6479 describes. The
// zero Window has seen none.
type Window struct {
	newest uint64
	words  [windowWords + 1]uint64 // a ring; one word more, so that the oldest one is whole
}

// Take notes a packet by its counter, and reports whether it is new. A packet that is
// too old to tell is not.
func (w *Window) Take(counter uint64) bool {
	word, newest := counter/wordBits, w.newest/wordBits
	if counter > w.newest {
		for i := newest + 1; i <= min(word, newest+windowWords+1); i++ {
			w.words[i%(windowWords+1)] = 0
		}
		w.newest = counter
	} else if w.newest-counter >= windowBits {
		return false
	}
	at, bit := &w.words[word%(windowWords+1)], uint64(1)<<(counter%wordBits)
	if *at&bit != 0 {
		return false
	}
	*at |= bit
	return true
}

// Windows keeps a window for each of the latest incarnations of every node.
type Windows struct {
	of [timed.MaxNodes + 1][windowsPerNode]*incarnation // the latest to send first
}

type incarnation struct {
	boot timed.BootID
	Window
}

// Take notes a packet that is authentic, and reports whether it is new. However many
// incarnations of the node packets are repeated of, the accepted one keeps its window.
func (w *Windows) Take(from timed.Incarnation, counter uint64, accepted timed.BootID) bool {
	list := &w.of[from.Node]
	for i, x := range list {
		if x == nil {
			break
		}
		if x.boot != from.Boot {
			continue
		}
		if !x.Take(counter) {
			return false
		}
		copy(list[1:i+1], list[:i])
		list[0] = x
		return true
	}
	x := &incarnation{boot: from.Boot}
	x.Take(counter)
	last := len(list) - 1
	if list[last] != nil && list[last].boot == accepted {
		last--
	}
	copy(list[1:last+1], list[:last])
	list[0] = x
	return true
}
