package main

import (
	"github.com/spf13/pflag"

	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// modeFlags are the flags that choose the kind of election and its timing.
type modeFlags struct {
	mode   *cli.Value[leader.Mode]
	rank   *cli.Value[leader.RankBy]
	preset *cli.Value[timed.Timing]
}

func (m *modeFlags) register(fl *pflag.FlagSet) {
	m.mode = cli.NewValue("available", "mode", leader.ParseMode)
	m.rank = cli.NewValue("stable", "rank", leader.ParseRankBy)
	m.preset = cli.NewValue("lan", "preset", timed.Preset)
	fl.Var(m.mode, "mode", "available or strict")
	fl.Var(m.rank, "rank", "stable or id")
	fl.Var(m.preset, "preset", "timing: local, lan or wan")
}
