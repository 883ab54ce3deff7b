package main

import (
	"testing"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestRepeatedFlagsAreRefused(t *testing.T) {
	clitest.RefusesRepetition(t, &program, "handler", "join", "ntp", "peer", "phc", "tag", "webhook")
}
