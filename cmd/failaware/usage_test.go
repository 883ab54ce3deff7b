package main

import (
	"testing"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestHelp(t *testing.T) { clitest.CheckHelp(t, &program) }

func TestExamples(t *testing.T) { clitest.CheckExamples(t, &program) }
