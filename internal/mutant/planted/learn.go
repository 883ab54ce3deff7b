package planted

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// few is the number of seeds that cost next to nothing: a kill that needs no more is
// played from seed 1.
const few = 10

// Learn stores in the table of the module at root which seeds noticed bugs, so that the
// next campaign begins with them. If the worlds change, the bug is noticed by another seed.
func Learn(root string, seeds map[Kill]uint64) error {
	files := map[string][]string{}
	for k, seed := range seeds {
		if files[k.at.file] == nil {
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(Dir), k.at.file))
			if err != nil {
				return err
			}
			files[k.at.file] = strings.Split(string(text), "\n")
		}
		line := &files[k.at.file][k.at.line-1]
		*line, _, _ = strings.Cut(*line, " from ")
		if seed > few {
			*line += fmt.Sprintf(" from %d", seed)
		}
	}
	for name, lines := range files {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(Dir), name), []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			return err
		}
	}
	return nil
}
