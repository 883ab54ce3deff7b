//go:build mutants

package sim

// The worlds of replicated state that the table of kills names.
func init() {
	for name, opt := range map[string]stateOptions{"state": {}, "state-tight": {tight: true}, "state-quorum": {quorum: true}} {
		w := worlds[name]
		w.play = mayPanic(func(seed uint64, _ Options) error {
			_, err := stateRun(seed, opt)
			return err
		})
		worlds[name] = w
	}
}
