package sim

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// stream is a named source of randomness. Each concern of a run has its own,
// split from the seed, so that changing one leaves the others as they were.
type stream struct{ pcg *rand.PCG }

// The streams of a run.
const (
	streamNetwork uint64 = iota + 1
	streamClocks
	streamProcesses
	streamFaults
	streamBoots
	streamTopology
	streamRates
	streamApps
	streamCasts // of the schedule; nodes have one each
	streamServers
	streamExchanges
	streamQuorum
	streamSeasons
	streamTails
	streamWander
	streamEpochs
)

func newStream(seed, name uint64) stream {
	return stream{rand.NewPCG(seed, name*0x9e3779b97f4a7c15+0x5851f42d4c957f2d)}
}

func (s stream) uint64() uint64 { return s.pcg.Uint64() }

// below returns a number in [0, n); n > 0.
func (s stream) below(n int64) int64 {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int64(hi)
}

// between returns a number in [lo, hi].
func (s stream) between(lo, hi int64) int64 {
	if hi <= lo {
		return lo
	}
	return lo + s.below(hi-lo+1)
}

// unit returns a number in [0, 1).
func (s stream) unit() float64 { return float64(s.pcg.Uint64()>>11) / (1 << 53) }

// chance reports true with probability p.
func (s stream) chance(p float64) bool { return p > 0 && s.unit() < p }

// exponential returns a number whose mean is 1, as the times between random events
// are.
func (s stream) exponential() float64 { return -math.Log(1 - s.unit()) }

// logUniform returns a number between lo and hi whose logarithm is uniform.
func (s stream) logUniform(lo, hi float64) float64 {
	return lo * math.Exp(s.unit()*math.Log(hi/lo))
}
