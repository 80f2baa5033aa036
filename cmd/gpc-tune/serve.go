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
		Long: `Serve the report of the run in a folder, with its progress, to browsers on this machine, and print the
address. The page updates itself while the run goes on, and links to the other report files. The
folder may be created later.

The server writes no files and needs no network. Other machines cannot connect. To view the page from
another machine, start the server with --listen 127.0.0.1:8080, and run there
  ssh -L 8080:127.0.0.1:8080 THIS-MACHINE
SIGINT (Ctrl-C) or SIGTERM stops the server.`,
		Example: "  gpc-tune serve runs/crabs\n  gpc-tune serve runs/crabs --listen 127.0.0.1:8080",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			listener, err := live.Listen(address)
			if err != nil {
				return usage("--listen: %w", err)
			}
			log := log.New(c.ErrOrStderr(), "gpc-tune: ", 0)
			handler := live.New(args[0], log)
			signals.endsWell() // once the address is printed, a signal is a normal end
			fmt.Fprintf(c.OutOrStdout(), "http://%v/\n", listener.Addr())
			drained, done := signals.drain()
			defer done()
			return live.Serve(c.Context(), listener, handler, log, drained)
		},
	}
	c.Flags().StringVar(&address, "listen", address, "loopback address and port; port 0 chooses a free one")
	return c
}
