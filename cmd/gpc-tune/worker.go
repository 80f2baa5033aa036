package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// restBlock is given instead of a block for the end of a run.
const restBlock = "rest"

func workerCommand(signals *interrupts) *cobra.Command {
	var (
		block         string
		blocks, first int
		options       runs.Options
		check         func() error
	)
	c := &cobra.Command{
		Use:   "worker RUN --block INDEX/BLOCKS | rest",
		Short: "Run one block of jobs of a run that gpc-tune submit has prepared",
		Long: `Run the missing jobs of one block. gpc-tune submit divides the jobs of a run into blocks, counted from
0. A worker reads RUN/plan.json and checks that its data and its program are the same. It skips
finished jobs, and writes its own part of the journal. Workers only need to share the run folder. The
results do not depend on the number of workers or machines, on restarts, or on workers that are
killed.

With --blocks M the index is SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX, plus --first. Without
--block and --blocks, the tasks of a Slurm array without gaps are taken as all blocks, from
SLURM_ARRAY_TASK_MIN on. "--block rest" runs all missing jobs of all blocks, and writes the results.

Exit codes:
  0  the block has no more jobs to run now; failed jobs are recorded, and do not run again unless
     gpc-tune submit --retry-failed asks for it
  3  the data, the program or the folder differ from those of the run, or memory is too small: the
     same command would fail again
  5, 129, 130 and 143  stopped: start it again
"--block rest" ends as gpc-tune run does, with 4 if jobs have failed.`,
		Example: "  gpc-tune worker runs/crabs --block 0/8\n  gpc-tune worker runs/crabs --block rest",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			var b runs.Block
			if block != restBlock {
				if b, err = whichBlock(block, blocks, first, os.Getenv); err != nil {
					return misused(err)
				}
			}
			if err := check(); err != nil {
				return err
			}
			laid, err := runs.OpenLaidOut(c.Context(), args[0])
			if err != nil {
				return err
			}
			if of := laid.Plan.Spec.Program; of != nil {
				signals.patient(of.Grace)
			}
			bar, done := begin(c, signals, &options)
			defer done() // last, so that the first signal does not cut off the output about the block
			options.Resume = true
			if block == restBlock {
				_, summary, err := predict.Run(c.Context(), laid.Plan, args[0], options)
				bar.finish()
				return finished(c, args[0], "", summary, err)
			}
			summary, waits, err := laid.Work(c.Context(), b, options)
			bar.finish()
			if err != nil {
				return fmt.Errorf("block %v: %w", b, err)
			}
			one, many := summary.Unit()
			fmt.Fprintf(c.ErrOrStderr(), "block %v: %s done", b, table.Counted(summary.Done, one, many))
			if waits > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "; training sets that wait for other blocks: %d", waits)
			}
			fmt.Fprintln(c.ErrOrStderr())
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&block, "block", "", "index and number of blocks, as in 0/8, the first of eight; or rest")
	f.IntVar(&blocks, "blocks", 0, "number of blocks; the index is taken from the environment")
	f.IntVar(&first, "first", 0, "with --blocks, added to the index of the environment")
	check = limitFlags(c, &options, "number of jobs that run at the same time")
	c.MarkFlagsMutuallyExclusive("block", "blocks")
	return c
}

// whichBlock returns the block given by the flags, or by the environment of a job array.
func whichBlock(block string, blocks, first int, env func(string) string) (b runs.Block, err error) {
	if block != "" {
		return runs.ParseBlock(block)
	}
	number := func(name string) (n int, given bool) {
		n, wrong := strconv.Atoi(env(name))
		return n, wrong == nil
	}
	task, array := number("SLURM_ARRAY_TASK_ID")
	if blocks == 0 {
		count, counted := number("SLURM_ARRAY_TASK_COUNT")
		least, from := number("SLURM_ARRAY_TASK_MIN")
		most, to := number("SLURM_ARRAY_TASK_MAX")
		if !array || !counted || !from || !to || most-least+1 != count {
			return b, fmt.Errorf("no block is given: add --block INDEX/BLOCKS, or --blocks BLOCKS in a Slurm array " +
				"(SLURM_ARRAY_TASK_ID) or an indexed job of Kubernetes (JOB_COMPLETION_INDEX)")
		}
		return runs.Block{Index: task - least, Of: count}, nil
	}
	if !array {
		if task, array = number("JOB_COMPLETION_INDEX"); !array {
			return b, fmt.Errorf("--blocks %d needs SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX in the "+
				"environment; else use --block INDEX/BLOCKS", blocks)
		}
	}
	return runs.ParseBlock(runs.Block{Index: first + task, Of: blocks}.String())
}
