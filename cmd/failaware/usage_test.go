package main

import (
	"testing"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestEveryCommandHasHelp(t *testing.T) { clitest.CheckHelp(t, &program) }
