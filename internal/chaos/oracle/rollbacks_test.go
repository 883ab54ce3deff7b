package oracle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrongAccusationsOfDisksAreSeen(t *testing.T) {
	harness := func(from int64, kind string) Record {
		r := at(from, Record{Kind: kind, Number: 2})
		r.Group = ""
		return r
	}
	says := func(from int64, nodes ...int) Record { return at(from, Record{Kind: RolledBack, Set: nodes}) }
	wrong := []string{"no disk is accused that has all"}
	require.Empty(t, rules(forged([]Record{harness(3, Wiped), says(4, 2)}, []Record{says(5, 2)})))
	require.Empty(t, rules(forged([]Record{harness(3, Rewound), harness(6, Rewound), says(4, 2)}, nil)))
	require.Equal(t, wrong, rules(forged([]Record{says(4, 2)}, nil)))
	require.Equal(t, wrong, rules(forged([]Record{harness(5, Rewound), harness(7, Wiped), says(4, 2)}, nil)))
	require.Equal(t, wrong, rules(forged([]Record{harness(3, Wiped), says(4, 2, 1)}, nil)))
}
