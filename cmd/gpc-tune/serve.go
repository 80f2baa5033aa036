package main

import (
	"crypto/rand"
	"fmt"
	"log"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/live"
)

func serveCommand(signals *interrupts) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve DIR",
		Short: "Show the report of a run in a browser, live while the run goes on",
		Long: `Serve the report of the run in a folder, with its progress, to browsers on this machine, and print the
address. The page updates itself while the run goes on, and links to the other report files. The
folder may be created later.

The server writes no files and needs no network. Other machines cannot connect. Other users of this
machine can, so every request needs the token in the printed address. A browser keeps it in a cookie;
scripts may send the header Authorization: Bearer TOKEN. With --no-token every user of this machine
can read the run, held-out labels included.

To view the page from another machine, start the server with --listen 127.0.0.1:8080, run there
  ssh -L 8080:127.0.0.1:8080 THIS-MACHINE
and open the printed address there.
SIGINT (Ctrl-C) or SIGTERM stops the server.`,
		Example: "  gpc-tune serve runs/crabs\n  gpc-tune serve runs/crabs --listen 127.0.0.1:8080",
		Args:    cobra.ExactArgs(1),
	}
	takesRuns(c, 1)
	serve := serverFlags(c, signals)
	c.RunE = func(_ *cobra.Command, args []string) error {
		return serve(func(_, token string, log *log.Logger) http.Handler { return live.New(args[0], token, log) })
	}
	return c
}

// serverFlags adds the flags of a server to c. The returned function prints the address and serves
// the handler for an address and a token until a signal comes.
func serverFlags(
	c *cobra.Command, signals *interrupts,
) func(handler func(address, token string, log *log.Logger) http.Handler) error {
	address, open := "127.0.0.1:0", false
	c.Flags().StringVar(&address, "listen", address, "loopback address and port; port 0 chooses a free one")
	c.Flags().BoolVar(&open, "no-token", false, "answer every user of this machine, without a token")
	return func(handler func(address, token string, log *log.Logger) http.Handler) error {
		listener, err := live.Listen(address)
		if err != nil {
			return usage("--listen: %w", err)
		}
		url, token := fmt.Sprintf("http://%v/", listener.Addr()), ""
		if !open {
			token = rand.Text()
			url += "?token=" + token
		}
		log := log.New(c.ErrOrStderr(), "gpc-tune: ", 0)
		h := handler(listener.Addr().String(), token, log)
		signals.endsWell() // once the address is printed, a signal is a normal end
		fmt.Fprintln(c.OutOrStdout(), url)
		drained, done := signals.drain()
		defer done()
		return live.Serve(c.Context(), listener, h, log, drained)
	}
}
