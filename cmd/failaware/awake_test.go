package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/cli"
)

func TestAwakeIsSetEverywhereSettingsAre(t *testing.T) {
	c, _, err := loadConfig("", source{"id": {{"1", "--id"}}})
	require.NoError(t, err)
	require.False(t, c.Awake, "a setting that costs power is off by default")
	c, _, err = loadConfig(writeFile(t, "id: 1\nawake: true\n"), source{})
	require.NoError(t, err)
	require.True(t, c.Awake)
	t.Setenv("FAILAWARE_AWAKE", "false")
	c, _, err = loadConfig(writeFile(t, "id: 1\nawake: true\n"), source{})
	require.NoError(t, err)
	require.False(t, c.Awake)
}

func TestTheFlagIsNamedIfProcessorsCannotBeKeptAwake(t *testing.T) {
	err := new(nodeRun).startError(fmt.Errorf("%w: no device", failaware.ErrAwake))
	var exit *cli.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, cli.ExitWrong, exit.Code)
	require.EqualError(t, err, "--awake: Awake: processors cannot be kept from sleeping: no device")
}

func TestProcsAreRaisedUnlessSomebodyHasChosen(t *testing.T) {
	for chosen, raised := range map[string]bool{"": true, "1": false, "0": true, "many": true} {
		t.Setenv("GOMAXPROCS", chosen)
		c, _, err := loadConfig(writeFile(t, "id: 1\n"), source{})
		require.NoError(t, err)
		require.Equal(t, raised, c.RaiseProcs, "GOMAXPROCS=%s", chosen)
	}
}
