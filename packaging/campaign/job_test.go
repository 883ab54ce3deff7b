// Package campaign has the test of the Job that runs campaigns of the simulator on many
// machines.
package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// Processes with the arguments of the Job, two of its indexes, run other seeds, and their
// results merge.
func TestShardsOfTheJobMerge(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the simulator")
	}
	b, err := os.ReadFile("job.yaml")
	require.NoError(t, err)
	var job batchv1.Job
	require.NoError(t, yaml.UnmarshalStrict(b, &job))
	require.Equal(t, batchv1.IndexedCompletion, *job.Spec.CompletionMode)
	args := job.Spec.Template.Spec.Containers[0].Args
	at := slices.Index(args, "--time")
	require.Positive(t, at)
	args = slices.Concat([]string{"campaign", "run", "rough", "wan", "--seeds", "3"}, args[at+2:]) // not for an hour

	dir := t.TempDir()
	lab := filepath.Join(dir, "lab")
	out, err := exec.Command("go", "build", "-C", "../..", "-buildvcs=false", "-o", lab, "./cmd/failaware-lab").CombinedOutput()
	require.NoError(t, err, "%s", out)
	merge := []string{"campaign", "merge", "-o", "json"}
	seen := map[string]bool{}
	for index := range 2 {
		var own []string
		for _, a := range args {
			own = append(own, strings.ReplaceAll(a, "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index)))
		}
		out, _ := exec.Command(lab, own...).Output() // so few seeds do not reach every situation
		file := filepath.Join(dir, fmt.Sprint(index))
		require.NoError(t, os.WriteFile(file, out, 0o600))
		merge = append(merge, file)
		require.False(t, seen[string(out)], "the shards run the same seeds")
		seen[string(out)] = true
	}
	out, _ = exec.Command(lab, merge...).Output()
	var all []struct {
		Name          string
		Seeds, Shards int
		Violations    int
	}
	require.NoError(t, json.Unmarshal(out, &all), "%s", out)
	require.Len(t, all, 2)
	for _, m := range all {
		require.Equal(t, []int{6, 2, 0}, []int{m.Seeds, m.Shards, m.Violations}, m.Name)
	}
}
