package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// restBlock names the end of a run where a block is asked for.
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
		Short: "Do one block of a run that gpc-tune submit has laid out",
		Long: `Do what is missing of one of the blocks into which the jobs of a run are divided, and end. Blocks
are counted from 0. A worker reads RUN/plan.json, verifies that it has the same data and is the same
program, passes over what is on record, and writes a journal segment of its own. Workers need
nothing but the folder in common; how many of them there are, on how many machines, how often each
is started and which of them are killed makes no difference to the results.

With --blocks M the index is that of an array: SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX, plus
--first. With neither flag an array of Slurm that has no gaps is taken for all blocks, from
SLURM_ARRAY_TASK_MIN on. "--block rest" does all that is missing, whoever's it is, and writes the
results.

Exit codes: 0 nothing is left that the block can do now (failed jobs are on record and do not run
again, unless gpc-tune submit --retry-failed has withdrawn them); 3 the data, the program or the
folder are not those that the run was laid out for, or memory is too little, so that trying again is
of no use; 5, 130 and 143 stopped, start it again. "--block rest" ends as gpc-tune run does, with 4
if jobs have failed.`,
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
			bar, done := begin(c, signals, &options)
			defer done() // to the end: the first signal must not cut off what is said of the block
			options.Resume = true
			if block == restBlock {
				_, summary, err := runs.Run(c.Context(), laid.Plan, args[0], options)
				bar.finish()
				return finished(c, args[0], "", summary, err)
			}
			summary, waits, err := laid.Work(c.Context(), b, options)
			bar.finish()
			if err != nil {
				return fmt.Errorf("block %v: %w", b, err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "block %v: %s done", b, table.Counted(summary.Done, "job", "jobs"))
			if waits > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "; what is left of %s waits for other blocks",
					table.Counted(waits, "training", "trainings"))
			}
			fmt.Fprintln(c.ErrOrStderr())
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&block, "block", "", "which block of how many, as in 0/8, the first of eight; or rest")
	f.IntVar(&blocks, "blocks", 0, "how many blocks there are; which it is, the environment says")
	f.IntVar(&first, "first", 0, "the block of index 0, with --blocks")
	check = limitFlags(c, &options, "jobs that run at a time")
	c.MarkFlagsMutuallyExclusive("block", "blocks")
	return c
}

// whichBlock is the block that the flags ask for, or the environment of an array.
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
			return b, fmt.Errorf("which block? Say --block INDEX/BLOCKS, or --blocks BLOCKS in an array of Slurm " +
				"(SLURM_ARRAY_TASK_ID) or an indexed job of Kubernetes (JOB_COMPLETION_INDEX)")
		}
		return runs.Block{Index: task - least, Of: count}, nil
	}
	if !array {
		if task, array = number("JOB_COMPLETION_INDEX"); !array {
			return b, fmt.Errorf("--blocks %d: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX says which", blocks)
		}
	}
	return runs.ParseBlock(runs.Block{Index: first + task, Of: blocks}.String())
}
