package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of the programs in this tree, and commit where it comes from.
// A release sets both when it links the programs, since it builds them without the
// repository.
var (
	release = "0.1.0-dev"
	commit  string
)

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
	from, changed := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			from = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if commit != "" {
		from, changed = commit, ""
	}
	return fmt.Sprintf("%s (commit %s%s, %s, %s/%s)", release, from, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
