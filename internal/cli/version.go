package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of the programs in this tree.
const release = "0.1.0-dev"

// Version returns the version of the program, the commit that it was built from if
// the build knows it, and the version of Go.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	commit, changed := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	return fmt.Sprintf("%s (commit %s%s, %s, %s/%s)", release, commit, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
