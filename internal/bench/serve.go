package bench

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/failaware/failaware/internal/jsonlines"
)

// Serve is a child: it does the job that it reads from in, reports to out, and
// returns when in ends.
func Serve(in io.Reader, out io.Writer) error {
	commands, reports := json.NewDecoder(in), jsonlines.NewWriter(out)
	var j job
	err := commands.Decode(&j)
	if err == nil {
		switch j.Kind {
		case bareJob:
			err = serveBare(&j, commands, reports)
		case nodeJob:
			err = serveNode(&j, commands, reports)
		case floorJob:
			err = serveFloor(&j, commands, reports)
		default:
			err = fmt.Errorf("no such job: %q", j.Kind)
		}
	}
	if err == io.EOF {
		return nil
	}
	reports.Put(report{Fatal: err.Error()})
	return fmt.Errorf("bench: %w", err)
}
