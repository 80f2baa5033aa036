package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
)

// Limits on requests to predict.
const (
	maxRequest = 1 << 24 // bytes
	maxRows    = 10_000
	maxWhy     = 100     // rows of a request for explanations
	firstRead  = 1 << 20 // bytes of a request that are read without waiting for other requests
	maxLarge   = 8       // number of larger requests in memory; the rest of further ones waits
)

// ModelHandler serves predictions of a model file: POST /predict with {"rows": [{column: value, …},
// …]} returns a predict.Predicted, and POST /predict?why=1 one with explanations. GET / is a page
// with a form for one case, which is sent to POST /. GET /schema returns the columns of a row and
// the classes. GET /health confirms that the model is loaded. GET /metrics returns numbers in the
// Prometheus format: requests to predict, predicted rows, error responses, seconds, rows outside
// the training range, and shifts of every input. All except /health need the token. The Host of a
// request must be localhost or a loopback address. The content type of a request to predict must be
// JSON, which pages of other sites cannot send without permission. The form of a page of another
// site is refused.
type ModelHandler struct {
	model    *predict.Classifier
	drift    *predict.Drift // nil: the model file has no training cases
	access   access
	log      *log.Logger
	patience time.Duration // time in which a request has to arrive

	one   sync.Mutex    // one prediction at a time, which uses all processors
	large chan struct{} // one for each large request in memory

	mu                     sync.Mutex // guards all fields below
	requests, rows, errors int
	seconds                float64
}

// NewModel makes the handler of a model. With an empty token everybody on this machine is answered.
func NewModel(model *predict.Classifier, token string, log *log.Logger) *ModelHandler {
	model, drift := model.Watching()
	return &ModelHandler{model: model, drift: drift, log: log, patience: patience, large: make(chan struct{}, maxLarge),
		access: access{command: "gpc-tune serve-model", token: token, open: "/health"}}
}

// ServeHTTP implements http.Handler.
func (h *ModelHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, why := h.access.refuse(w, r); status != 0 {
		h.refuse(w, status, why)
		return
	}
	methods, answer := []string{http.MethodGet}, h.answers()[r.URL.Path]
	switch r.URL.Path {
	case "/predict":
		methods, answer = []string{http.MethodPost}, h.predict
	case "/":
		methods, answer = []string{http.MethodGet, http.MethodPost}, h.form
	}
	switch {
	case answer == nil:
		h.refuse(w, http.StatusNotFound, "there are /, POST /predict, GET /schema, GET /health and GET /metrics")
	case !slices.Contains(methods, r.Method):
		w.Header().Set("Allow", strings.Join(methods, ", "))
		h.refuse(w, http.StatusMethodNotAllowed, "ask with "+strings.Join(methods, ", "))
	case r.URL.Path == "/" && http.NewCrossOriginProtection().Check(r) != nil:
		h.refuse(w, http.StatusForbidden, "the form was sent by a page of another site")
	default:
		if err := panicked.Try(func() { answer(w, r) }); err != nil {
			h.log.Printf("%s: %v", r.URL.Path, err)
			h.refuse(w, http.StatusInternalServerError, err.Error())
		}
	}
}

// answers are the responses to GET.
func (h *ModelHandler) answers() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/health": func(w http.ResponseWriter, _ *http.Request) {
			h.write(w, http.StatusOK, map[string]string{"status": "ok"})
		},
		"/schema": h.schema, "/metrics": h.metrics,
	}
}

func (h *ModelHandler) schema(w http.ResponseWriter, _ *http.Request) {
	type column struct {
		Name   string   `json:"name"`
		Levels []string `json:"levels,omitempty"`
	}
	out := struct {
		Inputs  []column `json:"inputs"`
		IDs     []column `json:"ids"`
		Classes []string `json:"classes"`
		MaxRows int      `json:"max_rows"`
	}{[]column{}, []column{}, h.model.Classes(), maxRows}
	inputs, ids := h.model.Columns()
	for _, c := range inputs {
		out.Inputs = append(out.Inputs, column{c.Name, c.Levels})
	}
	for _, c := range ids {
		out.IDs = append(out.IDs, column{Name: c.Name})
	}
	h.write(w, http.StatusOK, out)
}

func (h *ModelHandler) metrics(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	if h.drift != nil {
		_, outside := h.drift.Cases()
		fmt.Fprintf(w, "gpc_tune_predict_rows_outside_total %d\n", outside)
		inputs := h.drift.Inputs()
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
		for _, metric := range []struct {
			name string
			of   func(predict.InputDrift) float64
		}{
			{"drift_windows_total", func(d predict.InputDrift) float64 { return float64(d.Windows) }},
			{"drift_shifts_total", func(d predict.InputDrift) float64 { return float64(d.Shifts) }},
			{"drift_p", func(d predict.InputDrift) float64 { return d.P }},
		} {
			for _, in := range inputs {
				if math.IsNaN(metric.of(in)) { // no window yet
					continue
				}
				fmt.Fprintf(w, "gpc_tune_%s{input=\"%s\"} %g\n", metric.name, quoted.Replace(in.Input), metric.of(in))
			}
		}
	}
	fmt.Fprintf(w, "gpc_tune_predict_requests_total %d\ngpc_tune_predict_rows_total %d\n"+
		"gpc_tune_predict_errors_total %d\ngpc_tune_predict_seconds_total %g\n", h.requests, h.rows, h.errors,
		h.seconds)
}

func (h *ModelHandler) predict(w http.ResponseWriter, r *http.Request) {
	h.count(func() { h.requests++ })
	kind, options, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		h.refuse(w, http.StatusUnsupportedMediaType, "send Content-Type: application/json")
		return
	}
	if charset, is := options["charset"]; is && !strings.EqualFold(charset, "utf-8") {
		h.refuse(w, http.StatusUnsupportedMediaType, fmt.Sprintf("JSON is UTF-8; charset %q is not read", charset))
		return
	}
	text, release, err := h.receive(w, r)
	defer release()
	var out *predict.Predicted
	if err == nil {
		out, err = h.records(r.Context(), text, r.URL.Query().Get("why") != "")
	}
	large, bad := (*http.MaxBytesError)(nil), badRequest{}
	switch {
	case err == nil:
		h.write(w, http.StatusOK, out)
	case errors.As(err, &large):
		h.refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d bytes; ask for fewer rows at a time",
			maxRequest))
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.refuse(w, http.StatusRequestTimeout, fmt.Sprintf("the request took more than %v to arrive", h.patience))
	case errors.Is(err, context.Canceled): // the client has gone
		h.refuse(w, http.StatusServiceUnavailable, err.Error())
	case errors.Is(err, spec.ErrInvalid):
		h.refuse(w, http.StatusUnprocessableEntity, err.Error())
	case errors.As(err, &bad):
		h.refuse(w, http.StatusBadRequest, err.Error())
	default:
		h.log.Printf("/predict: %v", err)
		h.refuse(w, http.StatusInternalServerError, err.Error())
	}
}

// form answers with the page of the model. If the form was sent, it has the prediction of the case
// with an explanation.
func (h *ModelHandler) form(w http.ResponseWriter, r *http.Request) {
	status := http.StatusOK
	var values url.Values
	var out *predict.Predicted
	var err error
	if r.Method == http.MethodPost {
		h.count(func() { h.requests++ })
		if values, out, err = h.sent(w, r); err != nil {
			h.count(func() { h.errors++ })
			status = http.StatusUnprocessableEntity
		}
	}
	var text bytes.Buffer
	if err := h.model.Page(values, out, err).HTML(&text); err != nil {
		panic(err)
	}
	w.Header().Set("Content-Security-Policy", strings.Replace(policies["Content-Security-Policy"], "form-action 'none'",
		"form-action 'self'", 1))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	if _, err := w.Write(text.Bytes()); err != nil {
		h.log.Printf("an answer could not be written: %v", err)
	}
}

// sent predicts the case of a form.
func (h *ModelHandler) sent(w http.ResponseWriter, r *http.Request) (url.Values, *predict.Predicted, error) {
	text, release, err := h.receive(w, r)
	defer release()
	if err != nil {
		return nil, nil, err
	}
	values, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, nil, errors.New("the form is cut off or damaged; send it again")
	}
	out, err := h.records(r.Context(), h.model.FormRow(values), true)
	return values, out, err
}

// badRequest is the error for a body that is not {"rows": …}, or is cut off.
type badRequest struct{ error }

func (b badRequest) Unwrap() error { return b.error }

// receive reads the body of a request. It has to arrive within h.patience from now, of a large
// request from when there is memory for it. Its memory is taken until release is called.
func (h *ModelHandler) receive(w http.ResponseWriter, r *http.Request) (text []byte, release func(), err error) {
	// Connections without deadlines occur in tests only.
	connection, release := http.NewResponseController(w), func() {}
	_ = connection.SetReadDeadline(time.Now().Add(h.patience))
	from := http.MaxBytesReader(w, r.Body, maxRequest)
	var read bytes.Buffer
	_, err = read.ReadFrom(io.LimitReader(from, firstRead))
	if err == nil && read.Len() == firstRead {
		h.large <- struct{}{}
		release = func() { <-h.large }
		_ = connection.SetReadDeadline(time.Now().Add(h.patience))
		_, err = read.ReadFrom(from)
	}
	if err != nil {
		return nil, release, badRequest{fmt.Errorf("the request could not be read: %w", err)}
	}
	_ = connection.SetReadDeadline(time.Time{}) // the deadline would end the context
	return read.Bytes(), release, nil
}

// records predicts, one request at a time.
func (h *ModelHandler) records(ctx context.Context, text []byte, why bool) (*predict.Predicted, error) {
	h.one.Lock()
	defer h.one.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	model, most := h.model, maxRows
	if why {
		var err error
		if model, err = model.Deciding(spec.Deciding{Why: true}); err != nil {
			return nil, err
		}
		most = maxWhy
	}
	rows, err := model.ReadRecords(text, most)
	switch {
	case errors.Is(err, spec.ErrInvalid):
		return nil, err
	case err != nil:
		return nil, badRequest{fmt.Errorf("no {\"rows\": [{\"column\": value, …}, …]}: %w", err)}
	}
	begin := time.Now()
	defer func() {
		h.count(func() { h.rows, h.seconds = h.rows+rows.Len(), h.seconds+time.Since(begin).Seconds() })
	}()
	return model.Records(rows)
}

// count changes the metrics.
func (h *ModelHandler) count(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

func (h *ModelHandler) write(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	if _, err := w.Write(append(text, '\n')); err != nil {
		h.log.Printf("an answer could not be written: %v", err)
	}
}

func (h *ModelHandler) refuse(w http.ResponseWriter, status int, why string) {
	h.count(func() { h.errors++ })
	h.write(w, status, map[string]string{"error": why})
}
