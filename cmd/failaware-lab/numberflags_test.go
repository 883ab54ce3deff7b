package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestTextsThatAreNoNumbersAreRefused(t *testing.T) {
	require.NotEmpty(t, clitest.RefusesNoNumbers(t, &program))
}
