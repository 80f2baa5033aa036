package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/live"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

func serveModelCommand(signals *interrupts) *cobra.Command {
	var (
		serve    func(func(address, token string, log *log.Logger) http.Handler) error
		deciding func() spec.Deciding
	)
	c := &cobra.Command{
		Use:   "serve-model MODEL.json",
		Short: "Serve predictions of a model file over HTTP, on this machine",
		Long: `Serve predictions to a browser and to programs on this machine, and print the address:
  /               a page with a form for the inputs of a case, which shows the prediction, its set
                  and why, and the drift of all cases
  POST /predict   takes {"rows": [{"column": value, …}, …]}, up to 10 000 rows, with Content-Type:
                  application/json, and returns what gpc-tune predict --format json prints, with
                  a result for every row; POST /predict?why=1 explains each, of up to 100 rows, as
                  predict --why does
  GET /schema     returns the columns and the classes
  GET /health     says that the model is loaded; the only one that needs no token
  GET /metrics    counts requests to predict, rows predicted, errors, seconds, rows outside the
                  training range and shifts of every input, for Prometheus

Decisions are those of gpc-tune predict with the same flags. A value that cannot be read is taken for
missing, and named in the warnings; with --strict the request is refused.

Other machines cannot connect. Other users of this machine can, so a request needs the token in the
printed address, as a header Authorization: Bearer TOKEN. With --no-token every user of this machine
is answered.

SIGINT (Ctrl-C) or SIGTERM stops the server after open requests are answered, for which they have up
to 25 s.`,
		Example: "  gpc-tune serve-model crabs.json --listen 127.0.0.1:8080\n  curl -s 127.0.0.1:8080/predict -H " +
			"'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' " +
			"-d '{\"rows\": [{\"FL\": 8.1, \"RW\": 6.7}]}'",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := modelArgument(c, args[0]); err != nil {
				return err
			}
			model, err := predict.LoadClassifier(args[0])
			if err != nil {
				return err
			}
			if model, err = model.Deciding(deciding()); err != nil {
				return err
			}
			return serve(func(address, token string, log *log.Logger) http.Handler {
				with := map[bool]string{true: ", with the TOKEN of the address"}[token != ""]
				fmt.Fprintf(c.ErrOrStderr(), "a prediction%s: %s\n", with,
					askedByCurl(address, token != "", model.FormRow(nil)))
				return live.NewModel(model, token, log)
			})
		},
	}
	serve, deciding = serverFlags(c, signals), decidingFlags(c)
	return c
}

// askedByCurl is a command that asks a server of a model for the prediction of a row. It leaves the
// token to the reader, because a log may keep it.
func askedByCurl(address string, token bool, row []byte) string {
	command := []string{"curl", "-s", address + "/predict", "-H", "Content-Type: application/json"}
	if token {
		command = append(command, "-H", "Authorization: Bearer TOKEN")
	}
	const most = 2000
	if len(row) > most {
		row = []byte(`{"rows": [{"COLUMN": null}]}`)
	}
	return terminal.CommandLine(append(command, "-d", string(row))...)
}
