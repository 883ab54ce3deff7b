package fence

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/edict"
)

// kind identifies the file of a fence. Its content is a line for each name, sorted
// by name: the quoted name, a space, and the text of the edict.
var kind = durable.Kind{Name: "edict-fence", Version: 1, Most: edict.MaxNames * maxLine}

// maxLine is the length of the longest line. Each byte of a name may be quoted as four.
const maxLine = 4*edict.MaxName + 2 + 1 + edict.MaxText + 1

func format(v *edict.Verifier) string {
	var b strings.Builder
	for _, e := range v.Entries() {
		fmt.Fprintf(&b, "%s %v\n", strconv.Quote(e.Name), &e.Edict)
	}
	return b.String()
}

// parse reads the output of format and rejects everything else.
func parse(text string) (edict.Verifier, error) {
	var v edict.Verifier
	for line := range strings.Lines(text) {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return v, errors.New("a line does not begin with a name")
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return v, errors.New("a line does not begin with a name")
		}
		e, err := edict.Parse(strings.TrimSuffix(strings.TrimPrefix(line[len(quoted):], " "), "\n"))
		if err == nil {
			err = v.Remember(name, &e)
		}
		if err != nil {
			return v, fmt.Errorf("the edict of %s: %w", quoted, err)
		}
	}
	if format(&v) != text {
		return v, errors.New("the lines are out of order")
	}
	return v, nil
}
