package live

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// piped is a listener whose connections are pipes of this process.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p piped) Close() error   { close(p); return nil }
func (p piped) Addr() net.Addr { return &net.TCPAddr{} }

// After done, open requests have as long as ctx allows, and none is answered after it.
func TestOpenRequestsHaveUntilTheEnd(t *testing.T) {
	for _, needs := range []time.Duration{24 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			l, done := make(piped), make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				ended <- Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { time.Sleep(needs) }),
					log.New(io.Discard, "", 0), done)
			}()
			answered := make(chan error)
			go func() {
				client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					l <- theirs
					return ours, nil
				}}}
				_, err := client.Get("http://localhost/")
				answered <- err
			}()
			time.Sleep(time.Second) // until the request is there
			close(done)
			time.AfterFunc(25*time.Second, cancel)
			if err := <-answered; (err == nil) != (needs < 25*time.Second) {
				t.Errorf("a request of %v: %v", needs, err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			time.Sleep(needs) // until the handler has returned
		})
	}
}
