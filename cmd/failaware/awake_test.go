package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/awake"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/cli/clitest"
)

func TestAwakeIsSetEverywhereSettingsAre(t *testing.T) {
	c, _, err := loadConfig("", source{"id": {{"1", "--id"}}})
	require.NoError(t, err)
	require.False(t, c.Awake, "what costs power is asked for")
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

// Where the kernel cannot be asked, the node must say so instead of running without.
func TestStatusTellsThatProcessorsAreKeptAwake(t *testing.T) {
	r, err := awake.Hold()
	if err != nil {
		clitest.CheckWrongUsage(t, &program, strings.Fields("node --id 1 --api none --awake"), "awake: ", awake.Device)
		return
	}
	require.NoError(t, r.Close())
	for _, on := range []bool{false, true} {
		p := startProcess(t, "--id", "1", fmt.Sprintf("--awake=%v", on))
		code, out, text := p.ask("status", "-o", "json")
		require.Zero(t, code, text)
		var s api.Status
		require.NoError(t, json.Unmarshal([]byte(out), &s))
		require.Equal(t, on, s.Awake)
		_, out, _ = p.ask("status")
		if on {
			require.Regexp(t, `\nprocessors +kept from sleeping\n`, out)
		} else {
			require.NotContains(t, out, "processors")
		}
	}
}

func TestProcsAreRaisedUnlessSomebodyHasChosen(t *testing.T) {
	for chosen, raised := range map[string]bool{"": true, "1": false, "0": true, "many": true} {
		t.Setenv("GOMAXPROCS", chosen)
		c, _, err := loadConfig(writeFile(t, "id: 1\n"), source{})
		require.NoError(t, err)
		require.Equal(t, raised, c.RaiseProcs, "GOMAXPROCS=%s", chosen)
	}
}
