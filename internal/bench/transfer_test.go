package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTransfersAreJudgedAndShown(t *testing.T) {
	r := TransferResult{Nodes: 4, Clients: 24}
	s := TransferSize{MiB: 64, Took: 2 * time.Second, Before: 1000, During: 890, After: 1000, Joiner: TransferMemory{20, 90}, Sender: TransferMemory{20, 50}}
	r.Sizes = append(r.Sizes, s)
	r.aims(&s, &TransferOptions{Clients: 24})
	var b strings.Builder
	require.NoError(t, r.Text(&b))
	for _, want := range []string{"more memory of the joiner ≤ 64 MiB: 70, MISSED", "more memory of the sender ≤ 64 MiB: 30, met", "fewer operations ≤ 10 %: 11, MISSED", "32.0"} {
		require.Contains(t, b.String(), want)
	}
}

func TestTransferOptionsAreChecked(t *testing.T) {
	err := (&TransferOptions{Sizes: []int{0}, Clients: -1, For: time.Millisecond}).Check()
	for _, flag := range []string{"--size", "--clients", "--for"} {
		require.ErrorContains(t, err, flag)
	}
}
