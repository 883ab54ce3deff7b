package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// The commands and flags in the pages exist.
func TestCommandsInPages(t *testing.T) {
	require.NotZero(t, clitest.CheckPages(t, filepath.Join("..", ".."), newRootCommand))
}
