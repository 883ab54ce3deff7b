package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/bench"
	"github.com/failaware/failaware/internal/cli"
)

// maxResult is the size limit of a benchmark's result, in bytes.
const maxResult = 16 << 20

func newPlotCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "plot RESULT.json...",
		Short: "Draw the results of benchmarks, as SVG",
		Long: `Draw the output of benchmarks with -o json ("-" reads the standard input):

  bench election    the distribution of election times, their mean and 99th percentile
  bench collation   the cost of a renewal for the leader, with direct and with collated replies
  bench split       the time until a split is noticed, and until both sides are led

The command writes into a directory and replaces files of the same name.`,
		Example: `  failaware-lab bench election --nodes 1,2,3,4,5,6,7,8 -o json >election.json
  failaware-lab plot election.json --dir docs/figures`,
		Args: cli.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return cli.Wrong("--dir %s: %v", dir, err)
			}
			for _, name := range args {
				if err := plotResult(cmd, name, dir); err != nil {
					return cli.Wrong("%s: %v", name, err)
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "the directory for the files")
	return cmd
}

// plotResult draws the figures of one result.
func plotResult(cmd *cobra.Command, name, dir string) error {
	in, err := openInput(cmd.InOrStdin(), name)
	if err != nil {
		return err
	}
	defer in.Close()
	result, err := io.ReadAll(io.LimitReader(in, maxResult+1))
	if err != nil {
		return err
	}
	if len(result) > maxResult {
		return fmt.Errorf("it is longer than %d bytes", maxResult)
	}
	figures, err := bench.Figures(result)
	if err != nil {
		return err
	}
	for _, f := range figures {
		path := filepath.Join(dir, f.Name+".svg")
		if err := writeFile(path, f.Figure.Render); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	return nil
}
