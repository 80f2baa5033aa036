package live

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
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

// Serve serves h until done is closed. Running requests may then take until ctx ends, which closes
// all connections.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *log.Logger, done <-chan struct{}) error {
	server := &http.Server{Handler: h, ErrorLog: log, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 1 << 14}
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
