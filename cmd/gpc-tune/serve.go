package main

import (
	"fmt"
	"log"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/live"
)

func serveCommand(signals *interrupts) *cobra.Command {
	address := "127.0.0.1:0"
	c := &cobra.Command{
		Use:   "serve DIR",
		Short: "Show the report of a run in a browser, live while the run goes on",
		Long: `Show the page that report.html is, from the manifest and the journal of the run in a folder, with
how far the run is, to browsers on this machine: the address is printed. The page keeps itself up to
date; the other report files are linked on it. The folder need not be there yet.

Nothing is written and nothing is fetched. Other machines cannot connect; for a browser there, run
there ssh -L 8080:127.0.0.1:8080 THIS-MACHINE, with --listen 127.0.0.1:8080 here. SIGINT (Ctrl-C) or
SIGTERM ends it.`,
		Example: "  gpc-tune serve runs/crabs\n  gpc-tune serve runs/crabs --listen 127.0.0.1:8080",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			listener, err := live.Listen(address)
			if err != nil {
				return usage("--listen: %w", err)
			}
			log := log.New(c.ErrOrStderr(), "gpc-tune: ", 0)
			handler := live.New(args[0], log)
			signals.endsWell() // who has the address may end the command
			fmt.Fprintf(c.OutOrStdout(), "http://%v/\n", listener.Addr())
			drained, done := signals.drain()
			defer done()
			return live.Serve(c.Context(), listener, handler, log, drained)
		},
	}
	c.Flags().StringVar(&address, "listen", address, "loopback address and port to listen on; port 0: a free one")
	return c
}
