//go:build mutants

package sim

// The worlds of replicated state that the table of planted bugs names.
func init() {
	for name, opt := range map[string]stateOptions{"state": {}, "state-tight": {tight: true}, "state-quorum": {quorum: true}} {
		worlds[name] = world{play: mayPanic(func(seed uint64, _ Options) error {
			_, err := stateRun(seed, opt)
			return err
		})}
	}
}
