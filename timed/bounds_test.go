package timed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func presets() map[string]Timing {
	return map[string]Timing{"local": Local(), "LAN": LAN(), "WAN": WAN()}
}

func TestPresetsAreSound(t *testing.T) {
	for name, p := range presets() {
		b, err := p.Validate()
		require.NoError(t, err, name)
		// Each guarantee contains the ones that it builds on.
		require.GreaterOrEqual(t, b.Ready, p.MaxLockTime, name)
		require.Greater(t, b.Notice, p.Expires, name)
		require.GreaterOrEqual(t, b.Depose, p.LockTime, name)
		require.Greater(t, b.Elect, b.Notice, name)
		require.Greater(t, b.View, b.Elect, name)
		require.Greater(t, b.Rejoin, b.Ready+2*p.Expires, name)
	}
}

func TestValidateNamesBadConstant(t *testing.T) {
	type change struct {
		field string
		make  func(*Timing)
	}
	changes := []change{
		{"MaxDrift", func(c *Timing) { c.MaxDrift = -1 }},
		{"MaxDrift", func(c *Timing) { c.MaxDrift = MaxDrift + 1 }},
		{"MinDelay", func(c *Timing) { c.MinDelay = -1 }},
		{"MinDelay", func(c *Timing) { c.MinDelay = c.OneWayTimeout }},
		{"FastThreshold", func(c *Timing) { c.FastThreshold = c.OneWayTimeout - 1 }},
		{"Expires", func(c *Timing) { c.Expires = c.LeastExpires() - 1 }},
		{"LockTime", func(c *Timing) { c.LockTime = c.LeastLockTime() - 1 }},
		{"MaxLockTime", func(c *Timing) { c.MaxLockTime = c.LockTime - 1 }},
	}
	for field, at := range map[string]func(*Timing) *time.Duration{
		"OneWayTimeout":   func(c *Timing) *time.Duration { return &c.OneWayTimeout },
		"FastThreshold":   func(c *Timing) *time.Duration { return &c.FastThreshold },
		"SchedulingDelay": func(c *Timing) *time.Duration { return &c.SchedulingDelay },
		"ElectionPeriod":  func(c *Timing) *time.Duration { return &c.ElectionPeriod },
		"KeepalivePeriod": func(c *Timing) *time.Duration { return &c.KeepalivePeriod },
		"Expires":         func(c *Timing) *time.Duration { return &c.Expires },
		"LockTime":        func(c *Timing) *time.Duration { return &c.LockTime },
		"MaxLockTime":     func(c *Timing) *time.Duration { return &c.MaxLockTime },
	} {
		for _, d := range []time.Duration{-1, 0, MinDuration - 1, MaxDuration + 1, 1<<63 - 1} {
			changes = append(changes, change{field, func(c *Timing) { *at(c) = d }})
		}
	}
	for name, p := range presets() {
		for _, c := range changes {
			bad := p
			c.make(&bad)
			b, err := bad.Validate()
			require.Error(t, err, "%s: %s", name, c.field)
			require.Regexp(t, `(?m)^`+c.field+`: `, err.Error(), name)
			require.Equal(t, Bounds{}, b)
		}
	}
}

func TestValidateNamesAllBadConstants(t *testing.T) {
	_, err := Timing{MaxDrift: -1}.Validate()
	for _, field := range []string{"MaxDrift", "MinDelay", "OneWayTimeout", "FastThreshold", "SchedulingDelay",
		"ElectionPeriod", "KeepalivePeriod", "Expires", "LockTime", "MaxLockTime"} {
		require.ErrorContains(t, err, field+": ")
	}
}

var drawTiming = rapid.Custom(func(t *rapid.T) Timing {
	draw := func(name string, least, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, name))
	}
	c := Timing{MaxDrift: drawDrift.Draw(t, "rho"), OneWayTimeout: draw("delta", MinDuration, time.Second)}
	c.SchedulingDelay = draw("sigma", MinDuration, time.Second)
	c.ElectionPeriod = draw("EP", MinDuration, time.Minute)
	c.KeepalivePeriod = draw("KP", MinDuration, time.Minute)
	c.FastThreshold = c.LeastFast() + draw("more", 0, time.Second)
	return c
})

// Validate accepts the least values and rejects them minus one nanosecond. The
// least values satisfy the inequalities of docs/internals/model.md.
func TestLeastExpiresAndLeastLockTimeAreTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawTiming.Draw(t, "timing")
		c.Expires, c.LockTime = c.LeastExpires(), c.LeastLockTime()
		c.MaxLockTime = c.LockTime
		_, err := c.Validate()
		require.NoError(t, err)

		hear := exact(2*(c.KeepalivePeriod+c.SchedulingDelay), c.MaxDrift, 1)
		hear.Add(hear, rat(2*c.FastThreshold))
		require.Positive(t, rat(c.Expires).Cmp(hear), "expires > 2(KP+σ)(1+ρ) + 2Δ")
		round := exact(2*c.FastThreshold, c.MaxDrift, 1)
		round.Add(round, rat(2*c.ElectionPeriod+c.SchedulingDelay))
		require.Positive(t, exact(c.LockTime, c.MaxDrift, -2).Cmp(round), "lockTime(1−2ρ) > 2·EP + 2Δ(1+ρ) + σ")
		require.GreaterOrEqual(t, c.FastThreshold, 2*c.OneWayTimeout-c.MinDelay, "two timely messages make a fast one")
		require.GreaterOrEqual(t, c.RoundTime(), 2*(c.OneWayTimeout+c.SchedulingDelay), "a round outlasts timely answers")

		short := c
		short.Expires--
		_, err = short.Validate()
		require.ErrorContains(t, err, "Expires: ")
		short = c
		short.FastThreshold = c.LeastFast() - 1
		_, err = short.Validate()
		require.ErrorContains(t, err, "FastThreshold: ")
		short = c
		short.LockTime--
		_, err = short.Validate()
		require.Error(t, err)
		require.Regexp(t, `(?m)^LockTime: `, err.Error())
	})
}

func TestStrictWarning(t *testing.T) {
	for name, p := range presets() {
		require.NotEmpty(t, p.StrictWarning(), name)
		p.LockTime = p.MaxDrift.Wait(p.Expires + p.ElectionPeriod + p.RoundTime() + p.SchedulingDelay + 4*Granule)
		require.Empty(t, p.StrictWarning(), name)
	}
	p := LAN()
	p.MaxDrift = 0
	p.LockTime = p.Expires + p.ElectionPeriod + p.RoundTime() + p.SchedulingDelay + 3*Granule
	require.NotEmpty(t, p.StrictWarning(), "the lease ends when the round does")
	p.LockTime++
	require.Empty(t, p.StrictWarning())
}

// A late round, one that fails, and the late replies to the next one, each step by step.
func TestAnAmpleLockTimeCoversEachDelay(t *testing.T) {
	p := LAN()
	p.MaxDrift = 0
	round, late, way := 2*p.FastThreshold, p.SchedulingDelay, p.OneWayTimeout
	for _, p.ElectionPeriod = range []time.Duration{25 * time.Millisecond, time.Millisecond} {
		least := max(p.ElectionPeriod, 2*way+2*late) + late // between two rounds
		least += round + late                               // the one that fails
		least += late + way + late + way + late             // the next one, and its replies
		p.LockTime = least + 3*Granule
		require.NotEmpty(t, p.LeaseWarning())
		p.LockTime++
		require.Empty(t, p.LeaseWarning())
	}
}

func TestPeriodIsAtLeastOneRound(t *testing.T) {
	c := LAN()
	require.Equal(t, c.ElectionPeriod, c.Period())
	c.ElectionPeriod = time.Millisecond
	require.Equal(t, c.RoundTime(), c.Period())
	require.GreaterOrEqual(t, c.RoundTime(), 2*c.FastThreshold)
	c.MaxLockTime *= 3
	require.GreaterOrEqual(t, c.ReadyTime(), c.MaxLockTime, "of the longest vote, not of those that the node asks for")
}

func TestPresetsHaveAmpleLockTimes(t *testing.T) {
	for name, p := range presets() {
		require.Empty(t, p.LeaseWarning(), name)
		p.LockTime = p.ampleLockTime() - 1
		require.NotEmpty(t, p.LeaseWarning(), name)
	}
}

// A peer that heard this node was alive for Expires after its last fast packet, but for the ways of two
// keepalives. One that is not alive before does not hear it.
func TestDeafPeersAreMissedEarly(t *testing.T) {
	for name, x := range presets() {
		early := x.Expires - 2*x.KeepalivePeriod
		require.True(t, x.Deaf(early-1), name)
		require.False(t, x.Deaf(early), name)
	}
}
