// Package compose has the test of examples/compose: its file is one of Compose, and its
// settings make a group.
package compose

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// read reads the file by the schema and the rules of Compose.
func read(t *testing.T) *types.Project {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{"../../examples/compose/compose.yaml"}, cli.WithProfiles([]string{"*"}))
	require.NoError(t, err)
	p, err := o.LoadProject(t.Context())
	require.NoError(t, err)
	return p
}

func TestTheFileIsOfCompose(t *testing.T) {
	p := read(t)
	require.Len(t, p.Services, 4)
	built := 0
	for name, s := range p.Services {
		require.True(t, s.ReadOnly && len(s.CapDrop) == 1, "%s is closed up", name)
		if s.Build == nil {
			continue
		}
		built++
		require.FileExists(t, filepath.Join(s.Build.Context, s.Build.Dockerfile))
		require.FileExists(t, filepath.Join(s.Build.Context, s.Build.Dockerfile+".dockerignore"))
	}
	require.Equal(t, 1, built, "services that build the image, which all share")
	for _, path := range []string{"etc/failaware", "var/lib/failaware", "run/failaware"} {
		require.DirExists(t, filepath.Join("../../examples/compose/state", path))
	}
}

// Three nodes with the settings of the file, and addresses of this machine, are a group with
// a store.
func TestItsSettingsMakeAGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "failaware")
	run := func(env []string, args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	}
	run(nil, "go", "build", "-C", "../..", "-buildvcs=false", "-o", program, "./cmd/failaware")
	run(nil, program, "keygen", filepath.Join(dir, "keys"))
	p := read(t)
	var seeds, apis []string
	services := []string{"one", "two", "three"}
	for range services {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		require.NoError(t, err)
		seeds = append(seeds, c.LocalAddr().String())
		require.NoError(t, c.Close()) // the node takes the address
	}
	for i, name := range services {
		own := map[string]string{"LISTEN": seeds[i], "JOIN": strings.Join(seeds, ","), "KEY_FILE": filepath.Join(dir, "keys"),
			"STATE_DIR": filepath.Join(dir, name), "KV_DIR": filepath.Join(dir, name, "kv"), "API": filepath.Join(dir, name+".api")}
		env := os.Environ()
		for key, value := range p.Services[name].Environment {
			if _, replaced := own[strings.TrimPrefix(key, "FAILAWARE_")]; !replaced {
				env = append(env, key+"="+*value)
			}
		}
		for key, value := range own {
			env = append(env, "FAILAWARE_"+key+"="+value)
		}
		said, err := os.Create(filepath.Join(dir, name+".out"))
		require.NoError(t, err)
		cmd := exec.Command(program, p.Services[name].Command...)
		cmd.Env, cmd.Stdout, cmd.Stderr = env, said, said
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		apis = append(apis, "FAILAWARE_ADDR="+own["API"])
	}
	for _, api := range apis {
		run([]string{api}, program, "wait", "view", "--members", fmt.Sprint(len(services)), "--timeout", "2m")
	}
	run(apis[1:2], program, "kv", "put", "colour", "blue", "--timeout", "1m")
	require.Equal(t, "blue\n", run(apis[2:3], program, "kv", "get", "colour", "--timeout", "1m"))
}
