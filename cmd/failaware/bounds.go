package main

import (
	"io"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

// guarantees is the printed form of the bounds that settings guarantee.
type guarantees struct {
	api.Bounds
	LeastLockTimeNS int64      `json:"least_lock_time_ns"`
	LeastExpiresNS  int64      `json:"least_expires_ns"`
	Timing          api.Timing `json:"timing"`
	Warnings        []string   `json:"warnings"`
}

func guaranteesOf(c *nodeConfig, b failaware.Bounds) guarantees {
	t := c.Timing
	g := guarantees{Bounds: api.BoundsOf(b), LeastLockTimeNS: int64(t.LeastLockTime()),
		LeastExpiresNS: int64(t.LeastExpires()), Timing: api.TimingOf(t), Warnings: []string{}}
	g.Warnings = append(g.Warnings, strayVariables()...)
	if w := t.LeaseWarning(); w != "" {
		g.Warnings = append(g.Warnings, w)
	}
	if w := t.StrictWarning(); w != "" && c.Mode == failaware.Strict {
		g.Warnings = append(g.Warnings, w)
	}
	if c.StateDir == "" {
		g.Warnings = append(g.Warnings, "without --state-dir, --max-lock-time must never be lowered between runs, "+
			"and nothing keeps a second process with the same id from starting on this machine")
	}
	if c.Insecure && c.KeyFile == "" {
		g.Warnings = append(g.Warnings, "packets are neither authenticated nor secret: any host that can send to this node can pretend to be any node")
	}
	g.Warnings = append(g.Warnings, c.warnings...)
	return g
}

// roundUp rounds a bound up to whole microseconds.
func roundUp(ns int64) time.Duration {
	d := time.Duration(ns)
	return (d + time.Microsecond - 1).Truncate(time.Microsecond)
}

// write prints the guarantees as text.
func (g *guarantees) write(w io.Writer) error {
	t := cli.NewTable(w)
	for _, r := range []struct {
		name string
		ns   int64
		what string
	}{
		{"ready", g.ReadyNS, "a started node votes after"},
		{"notice", g.NoticeNS, "a crashed or cut-off peer is noticed within"},
		{"depose", g.DeposeNS, "a cut-off leader stops leading within"},
		{"elect", g.ElectNS, "a partition has a leader within"},
		{"view", g.ViewNS, "a partition has an up-to-date view within"},
		{"rejoin", g.RejoinNS, "a restarted node adds to both at most"},
		{"least lock_time", g.LeastLockTimeNS, "the shortest that is sound; it is " + cli.BriefUp(g.Timing.LockTimeNS)},
		{"least expires", g.LeastExpiresNS, "the shortest that is sound; it is " + cli.BriefUp(g.Timing.ExpiresNS)},
	} {
		t.Row("  "+r.name, roundUp(r.ns), r.what)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, warning := range g.Warnings {
		if _, err := io.WriteString(w, "  warning: "+warning+"\n"); err != nil {
			return err
		}
	}
	return nil
}
