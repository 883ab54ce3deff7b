//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// The commands and flags in the pages exist.
func TestCommandsInPages(t *testing.T) {
	require.NotZero(t, clitest.CheckPages(t, filepath.Join("..", ".."), newRootCommand))
}

var (
	port  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	waits = regexp.MustCompile(`\bwait (view|leader|synced|store)\b`)
)

// The blocks of a page that are marked "sh run" run one after the other in one shell, as
// they stand there: except that addresses are free ones, that /tmp is a directory of the
// test, and that a command which waits does so for as long as a busy machine takes.
func TestBlocksInPagesRun(t *testing.T) {
	program, err := exec.LookPath("failaware") // the one of TestMain
	require.NoError(t, err)
	ran := 0
	for _, p := range clitest.Pages(t, filepath.Join("..", "..")) {
		var script strings.Builder
		for _, b := range p.Blocks() {
			if b.Info == "sh run" {
				script.WriteString(b.Text)
			}
		}
		if script.Len() == 0 {
			continue
		}
		ran++
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			runBlocks(t, filepath.Dir(program), script.String())
		})
	}
	require.NotZero(t, ran)
}

func runBlocks(t *testing.T, path, script string) {
	dir := t.TempDir()
	free, err := clitest.FreeAddresses(20)
	require.NoError(t, err)
	addrs := map[string]string{}
	script = port.ReplaceAllStringFunc(script, func(a string) string {
		if addrs[a] == "" {
			addrs[a] = free[len(addrs)]
		}
		return addrs[a]
	})
	script = strings.ReplaceAll(script, "/tmp/", dir+"/")
	script = waits.ReplaceAllString(script, "${0} --timeout "+clitest.LongEnough.String())
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with all that it leaves in the background
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	err = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	said, _ := os.ReadFile(log.Name())
	require.NoError(t, err, "%s\n%s", script, said)
	t.Logf("%s", said)
}
