package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// group is what the manifests describe.
type group struct {
	set        appsv1.StatefulSet
	service    corev1.Service
	disruption policyv1.PodDisruptionBudget
	settings   corev1.ConfigMap
}

// rendered returns the manifests as kustomize renders them, read with the types of the
// Kubernetes API: a field that no type has is an error.
func rendered(t *testing.T) (g group) {
	t.Helper()
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../kubernetes")
	require.NoError(t, err)
	kinds := map[string]any{"StatefulSet": &g.set, "Service": &g.service, "PodDisruptionBudget": &g.disruption, "ConfigMap": &g.settings}
	for _, r := range all.Resources() {
		to, known := kinds[r.GetKind()]
		require.True(t, known, r.GetKind())
		delete(kinds, r.GetKind())
		b, err := r.AsYAML()
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(b, to), "%s", b)
	}
	require.Empty(t, kinds)
	return g
}

// environment returns the variables of the container in the first pod.
func (g *group) environment(t *testing.T) (env []string) {
	t.Helper()
	for name, value := range g.settings.Data {
		env = append(env, name+"="+value)
	}
	for _, v := range g.set.Spec.Template.Spec.Containers[0].Env {
		require.NotNil(t, v.ValueFrom.FieldRef, v.Name)
		switch v.ValueFrom.FieldRef.FieldPath {
		case "metadata.labels['apps.kubernetes.io/pod-index']":
			env = append(env, fmt.Sprintf("%s=%d", v.Name, g.set.Spec.Ordinals.Start))
		case "metadata.name":
			env = append(env, fmt.Sprintf("%s=%s-%d", v.Name, g.set.Name, g.set.Spec.Ordinals.Start))
		default:
			require.Fail(t, "no such field", v.ValueFrom.FieldRef.FieldPath)
		}
	}
	return env
}

func TestTheManifestsFitTogether(t *testing.T) {
	g := rendered(t)
	pod := g.set.Spec.Template
	require.Equal(t, g.service.Name, g.set.Spec.ServiceName)
	require.Equal(t, "None", g.service.Spec.ClusterIP)
	require.True(t, g.service.Spec.PublishNotReadyAddresses)
	for _, selector := range []map[string]string{g.set.Spec.Selector.MatchLabels, g.service.Spec.Selector, g.disruption.Spec.Selector.MatchLabels,
		pod.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector.MatchLabels} {
		require.NotEmpty(t, selector)
		require.Subset(t, pod.Labels, selector)
	}
	require.Equal(t, 1, g.disruption.Spec.MaxUnavailable.IntValue())
	require.EqualValues(t, 1, g.set.Spec.Ordinals.Start, "ids of nodes begin with 1")
	require.Equal(t, appsv1.OnDeleteStatefulSetStrategyType, g.set.Spec.UpdateStrategy.Type, "readiness cannot say that the next pod may go")
	claim := g.set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage]
	require.Greater(t, claim.Value(), int64(256<<20), "a log of 64 MiB and snapshots")

	var peers []string
	for id := range int(*g.set.Spec.Replicas) {
		peers = append(peers, fmt.Sprintf("%d=%s-%d.%s:%d", id+1, g.set.Name, id+1, g.service.Name, g.service.Spec.Ports[0].Port))
	}
	require.Equal(t, strings.Join(peers, ","), g.settings.Data["FAILAWARE_PEERS"])

	node := pod.Spec.Containers[0]
	volumes := []string{g.set.Spec.VolumeClaimTemplates[0].Name}
	for _, v := range pod.Spec.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, m := range node.VolumeMounts {
		require.Contains(t, volumes, m.Name)
	}
	require.True(t, slices.ContainsFunc(node.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == g.settings.Data["FAILAWARE_KEY_FILE"] }))
	require.Contains(t, pod.Spec.Containers[0].EnvFrom[0].ConfigMapRef.Name, "failaware")
	require.Equal(t, g.settings.Name, node.EnvFrom[0].ConfigMapRef.Name)
	require.Equal(t, nobody, fmt.Sprintf("%d:%d", *pod.Spec.SecurityContext.RunAsUser, *pod.Spec.SecurityContext.RunAsGroup))
}

// podRoot makes the root directory of a pod: the image, and the volumes with the owners
// and modes that kubelet gives them. volumes has those that may be written.
func podRoot(t *testing.T, g *group) (root string, volumes []string, config v1.Config) {
	t.Helper()
	image := imageOf(t, unpackedImage(t), "linux/amd64")
	file, err := image.ConfigFile()
	require.NoError(t, err)
	root, err = os.MkdirTemp("", "pod")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	require.NoError(t, os.Chmod(root, 0o755))
	unpack(t, mutate.Extract(image), root)

	owners := int(*g.set.Spec.Template.Spec.SecurityContext.FSGroup)
	for _, m := range g.set.Spec.Template.Spec.Containers[0].VolumeMounts {
		if m.ReadOnly {
			continue
		}
		path, mode := filepath.Join(root, m.MountPath), 0o777|os.ModeSetgid
		if m.Name == g.set.Spec.VolumeClaimTemplates[0].Name {
			mode = 0o775 | os.ModeSetgid
		}
		require.NoError(t, os.MkdirAll(path, 0o755))
		require.NoError(t, os.Chown(path, 0, owners))
		require.NoError(t, os.Chmod(path, mode))
		volumes = append(volumes, path)
	}
	keys, err := exec.Command(filepath.Join(root, "failaware"), "keygen").Output()
	require.NoError(t, err)
	secret := filepath.Join(root, g.settings.Data["FAILAWARE_KEY_FILE"])
	require.NoError(t, os.MkdirAll(filepath.Dir(secret), 0o755))
	require.NoError(t, os.WriteFile(secret, keys, 0o440))
	require.NoError(t, os.Chown(secret, 0, owners))
	return root, volumes, file.Config
}

// readOnly runs a command, and has all of a pod's root but its volumes be read-only for it.
// The port of the command is its own too.
const readOnly = `root=$1 && shift && mount --bind "$root" "$root" || exit
while [ "$1" != -- ]; do mount --bind "$1" "$1" || exit; shift; done
shift && mount -o remount,bind,ro "$root" && exec "$@"`

// A pod runs from its manifest, as far as that is possible without Kubernetes, and the
// probes are the commands of the manifest. It may have a store.
func TestAPodRuns(t *testing.T) {
	g := rendered(t)
	require.True(t, *g.set.Spec.Template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem)
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	t.Run("without a store", func(t *testing.T) { aPodRuns(t, &g) })
	store := []string{"FAILAWARE_KV=linearizable", "FAILAWARE_QUORUM=majority:1"}
	t.Run("with a store in memory", func(t *testing.T) { aPodRuns(t, &g, store...) })
	t.Run("with a store on its volume", func(t *testing.T) { aPodRuns(t, &g, append(store, "FAILAWARE_KV_DIR=/var/lib/failaware/kv")...) })
}

func aPodRuns(t *testing.T, g *group, store ...string) {
	root, volumes, config := podRoot(t, g)
	env := slices.Concat(config.Env, g.environment(t), store)
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command("chroot", append([]string{"--userspec=" + config.User, root}, args...)...)
		cmd.Env = env
		return cmd
	}
	node := exec.Command("unshare", slices.Concat([]string{"--net", "--mount", "sh", "-c", readOnly, "sh", root}, volumes,
		[]string{"--"}, command().Args, config.Entrypoint, config.Cmd)...)
	node.Env = append(env, "PATH="+os.Getenv("PATH"))
	var log bytes.Buffer
	node.Stdout, node.Stderr = &log, &log
	require.NoError(t, node.Start())
	ended := make(chan error, 1)
	go func() { ended <- node.Wait() }()
	t.Cleanup(func() { _ = node.Process.Kill() })
	succeeds := func(args ...string) {
		t.Helper()
		for end := time.Now().Add(patience); command(args...).Run() != nil; time.Sleep(50 * time.Millisecond) {
			select {
			case err := <-ended:
				require.FailNow(t, "the node ends", "%v\n%s", err, log.String())
			default:
				require.True(t, time.Now().Before(end), "%v fails", args)
			}
		}
	}
	c := g.set.Spec.Template.Spec.Containers[0]
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		succeeds(p.Exec.Command...)
	}
	if store != nil {
		succeeds("/failaware", "kv", "put", "key", "value")
	}
	out, err := command("/failaware", "status", "-o", "ndjson").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), `"node":1,"name":"failaware-1","group":"kubernetes"`)
	require.NoError(t, node.Process.Signal(syscall.SIGTERM))
	require.NoError(t, <-ended, log.String())
	require.Contains(t, log.String(), "left after")
	require.Error(t, command(c.LivenessProbe.Exec.Command...).Run())
}
