package journal_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/journal"
)

// BenchmarkAppend writes batches of records of 64 bytes to a real disk, one flush each.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1, 16, 256, 4096} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			j, err := journal.Open(filepath.Join(b.TempDir(), "journal"), journal.Options{})
			require.NoError(b, err)
			record := make([]byte, 64)
			var batch journal.Batch
			b.SetBytes(int64(size * len(record)))
			for b.Loop() {
				batch.Reset()
				for range size {
					batch.Add(record)
				}
				if err := j.Append(&batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "records/s")
			require.NoError(b, j.Close())
		})
	}
}

// BenchmarkWriter appends records of 64 bytes one by one, as fast as the writer takes
// them.
func BenchmarkWriter(b *testing.B) {
	j, err := journal.Open(filepath.Join(b.TempDir(), "journal"), journal.Options{})
	require.NoError(b, err)
	w := journal.NewWriter(j, journal.WriterOptions{})
	record := make([]byte, 64)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Append(context.Background(), record); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, w.Close())
}
