package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// Listen listens on a loopback address, which no other machine can reach, such as 127.0.0.1:8080,
// [::1]:0 or localhost:0. With port 0 the system chooses a free one.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w; give an address and a port, as in 127.0.0.1:8080, or with port 0 for a "+
			"free one", err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s: only addresses that no other machine can reach are served: 127.0.0.1, ::1 or "+
			"localhost; for a browser on another machine listen on 127.0.0.1:8080 and run there: ssh -L "+
			"8080:127.0.0.1:8080 THIS-MACHINE", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w; with port 0 the system chooses a free one", err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("%s is %v here, which is not a loopback address; give 127.0.0.1 instead",
			address, l.Addr()), l.Close())
	}
	return l, nil
}

const (
	patience = 30 * time.Second // time limit of a request, and of a small answer
	slowest  = 100 << 10        // bytes of an answer per additional second for a client
)

// Serve serves h until done is closed. Running requests may then take until ctx ends, which closes
// all connections. A client that sends its request or takes its answer too slowly loses the
// connection.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *log.Logger, done <-chan struct{}) error {
	return serve(ctx, l, h, log, done, patience)
}

// serve is Serve with this patience.
func serve(
	ctx context.Context, l net.Listener, h http.Handler, log *log.Logger, done <-chan struct{}, patience time.Duration,
) error {
	limited := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The deadline of the previous answer ends. Connections without deadlines occur in tests
		// only.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		answer := &response{ResponseWriter: w, asked: request{r.Body, r.ContentLength == 0}, patience: patience}
		r.Body = &answer.asked
		h.ServeHTTP(answer, r)
	})
	server := &http.Server{Handler: limited, ErrorLog: log, ReadHeaderTimeout: min(patience, 10*time.Second),
		ReadTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	ended := make(chan error)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-done:
	case <-ctx.Done():
	}
	if server.Shutdown(ctx) != nil { // some responses are not complete
		server.Close()
	}
	<-ended
	return nil
}

// response is a response with a deadline. It closes the connection if the handler has not read all
// of the request, instead of waiting for the rest.
type response struct {
	http.ResponseWriter
	asked    request
	patience time.Duration
}

// request is the body of a request.
type request struct {
	io.ReadCloser
	ended bool // there is nothing left to read
}

func (r *request) Read(p []byte) (n int, err error) {
	n, err = r.ReadCloser.Read(p)
	r.ended = r.ended || errors.Is(err, io.EOF)
	return n, err
}

// WriteHeader sets the deadline; the size of a large answer must be in its header Content-Length.
func (r *response) WriteHeader(status int) {
	size, _ := strconv.Atoi(r.Header().Get("Content-Length"))
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(r.patience +
		time.Duration(size)*time.Second/slowest))
	if !r.asked.ended {
		r.Header().Set("Connection", "close")
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
