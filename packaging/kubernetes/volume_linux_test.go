package kubernetes

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// securityContext is that of the pods.
type securityContext struct{ RunAsUser, RunAsGroup, FSGroup uint32 }

func contextOfPods(t *testing.T) securityContext {
	t.Helper()
	b, err := os.ReadFile("statefulset.yaml")
	require.NoError(t, err)
	var set struct {
		Spec struct {
			Template struct {
				Spec struct{ SecurityContext securityContext }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(b, &set))
	return set.Spec.Template.Spec.SecurityContext
}

// mount gives a volume to a group as the kubelet does, before the containers of a pod start.
func mount(t *testing.T, volume string, group uint32) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(volume, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		mode := info.Mode() | 0o660
		if d.IsDir() {
			mode |= 0o110 | fs.ModeSetgid
		}
		require.NoError(t, os.Chown(path, -1, int(group)))
		return os.Chmod(path, mode)
	}))
}

// A pod starts again on its volume, with a store there.
func TestAPodStartsAgainOnItsVolume(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start processes of other users")
	}
	pod := contextOfPods(t)
	require.NotZero(t, pod.RunAsUser)
	dir, err := os.MkdirTemp("", "pod") // other users can reach it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	program, volume, run := filepath.Join(dir, "failaware"), filepath.Join(dir, "state"), filepath.Join(dir, "run")
	out, err := exec.Command("go", "build", "-C", "../..", "-buildvcs=false", "-o", program, "./cmd/failaware").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Mkdir(volume, 0o755))
	require.NoError(t, os.Mkdir(run, 0o755))
	require.NoError(t, os.Chown(run, int(pod.RunAsUser), int(pod.RunAsGroup)))
	api := filepath.Join(run, "api.sock")
	inPod := func(args ...string) *exec.Cmd {
		c := exec.Command(program, args...)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: pod.RunAsUser, Gid: pod.RunAsGroup, Groups: []uint32{pod.FSGroup}}}
		return c
	}
	for _, key := range []string{"first", "second"} {
		mount(t, volume, pod.FSGroup)
		node := inPod("node", "--id", "1", "--listen", "127.0.0.1:0", "--api", api, "--state-dir", volume,
			"--kv", "linearizable", "--kv-dir", filepath.Join(volume, "kv"), "--quorum", "majority:1")
		var log bytes.Buffer
		node.Stdout, node.Stderr = &log, &log
		require.NoError(t, node.Start())
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			out, err := inPod("--addr", api, "kv", "put", key, "value").CombinedOutput()
			if err == nil {
				break
			}
			if time.Now().After(end) {
				_ = node.Process.Kill()
				_ = node.Wait()
				require.NoError(t, err, "%s\n%s", out, &log)
			}
		}
		out, err = inPod("--addr", api, "kv", "get", "first").Output()
		require.NoError(t, node.Process.Signal(syscall.SIGTERM))
		require.NoError(t, node.Wait(), &log)
		require.NoError(t, err)
		require.Equal(t, "value\n", string(out))
	}
}
