package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listening serves h on a socket with a patience, and returns the address.
func listening(t *testing.T, h http.Handler, patience time.Duration) string {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- serve(ctx, l, h, log.New(io.Discard, "", 0), nil, patience) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// patient makes a handler of a small model with a patience.
func patient(t *testing.T, patience time.Duration) *ModelHandler {
	h := NewModel(fitted(t, decimalComma, ", decimal: comma"), "", log.New(io.Discard, "", 0))
	h.patience = patience
	return h
}

// dialled connects to an address and sends a text.
func dialled(t *testing.T, address, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err == nil {
		t.Cleanup(func() { c.Close() })
		_, err = io.WriteString(c, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// received reads an answer, and that the connection is closed after it if it says so.
func received(t *testing.T, c net.Conn) (status int, text string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	from := bufio.NewReader(c)
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Errorf("no answer: %v", err)
		return 0, ""
	}
	all, err := io.ReadAll(answer.Body)
	if err == nil && answer.Close {
		// A server that closes a connection before it has read all of a body resets it.
		if _, err = from.ReadByte(); errors.Is(err, syscall.ECONNRESET) {
			err = io.EOF
		}
	}
	if answer.StatusCode == http.StatusRequestTimeout && !answer.Close {
		t.Error("the answer to a request that has not ended does not say that the connection is closed")
	}
	if answer.Close && err != io.EOF || !answer.Close && err != nil {
		t.Errorf("%d %s: the connection is not closed: %v", answer.StatusCode, all, err)
	}
	return answer.StatusCode, string(all)
}

// posted is the beginning of a request to predict with a body of a size; a negative one is not
// known.
func posted(size int) string {
	length := fmt.Sprintf("Content-Length: %d", size)
	if size < 0 {
		length = "Transfer-Encoding: chunked"
	}
	return "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + length + "\r\n\r\n"
}

// A body that stops to arrive is answered with 408 at the deadline, and the connection is closed,
// whether its size is known, and however much of it has arrived.
func TestBodiesThatStall(t *testing.T) {
	t.Parallel()
	const patience = 300 * time.Millisecond
	address := listening(t, patient(t, patience), patience)
	for _, sent := range []string{
		posted(100), posted(-1), posted(100) + `{"rows": [{"x": 1`, posted(100) + `{"rows": [{"x": 1}]}`,
		posted(-1) + "10\r\n{\"rows\": [{\"x\": ", posted(15<<20) + strings.Repeat(" ", 3<<20),
	} {
		t.Run(fmt.Sprintf("%.150q", sent), func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			status, text := received(t, dialled(t, address, sent))
			if took := time.Since(begun); status != http.StatusRequestTimeout || took < patience || took > 20*time.Second ||
				text != `{"error":"the request took more than 300ms to arrive"}`+"\n" {
				t.Errorf("%d %s after %v", status, text, took)
			}
		})
	}
}

// A body that arrives in pieces is answered if all of it arrives within the deadline, and with 408 if
// not, although pieces went on to arrive.
func TestBodiesThatAreSlow(t *testing.T) {
	t.Parallel()
	const rows = `{"rows": [{"x": 1}]}`
	for _, c := range []struct {
		patience, pause time.Duration
		want            int
	}{{20 * time.Second, 50 * time.Millisecond, http.StatusOK}, {400 * time.Millisecond, 150 * time.Millisecond, http.StatusRequestTimeout}} {
		t.Run(c.patience.String(), func(t *testing.T) {
			t.Parallel()
			connection := dialled(t, listening(t, patient(t, c.patience), c.patience), posted(len(rows)))
			go func() {
				for i := range rows {
					if _, err := io.WriteString(connection, rows[i:i+1]); err != nil {
						return
					}
					time.Sleep(c.pause)
				}
			}()
			status, text := received(t, connection)
			if status != c.want || text == "" || (status == http.StatusOK) != strings.Contains(text, `"rows":[[0,`) {
				t.Errorf("%d %q, want %d", status, text, c.want)
			}
		})
	}
}

// Clients that stall delay no other, small or large, and neither do clients that do not take their
// answer.
func TestSlowClientsDelayNobody(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Minute
	address := listening(t, patient(t, patience), patience)
	for range 4 {
		dialled(t, address, posted(100)+`{"rows": [{"x": 1`)
		dialled(t, address, posted(15<<20)+strings.Repeat(" ", 2<<20))
	}
	const row = `{"x": 1}`
	for _, body := range []string{`{"rows": [` + row + `]}`, strings.Repeat(" ", 14<<20) + `{"rows": [` + row + `]}`} {
		c := dialled(t, address, posted(len(body))+body)
		_ = c.SetReadDeadline(time.Now().Add(patience / 4))
		if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%d bytes: %v %v", len(body), answer, err)
		}
	}
}

// When as many large requests as there is memory for stall, a further one is answered after the first
// of them has lost its connection, and a small one at once.
func TestTooManyLargeRequests(t *testing.T) {
	t.Parallel()
	if crowded(t, 2*time.Second) == nil {
		return
	}
	// Even on a busy machine all requests reach the server in this time.
	if err := crowded(t, 10*time.Second); err != nil {
		t.Error(err)
	}
}

// crowded fills the memory for large requests with some that stall, and returns what is wrong with
// the answers to two others. patience is how long the server waits for the rest of a request.
func crowded(t *testing.T, patience time.Duration) error {
	h := patient(t, patience)
	address := listening(t, h, time.Minute)
	for range maxLarge {
		dialled(t, address, posted(15<<20)+strings.Repeat(" ", 2<<20))
	}
	for begun := time.Now(); len(h.large) < maxLarge; time.Sleep(time.Millisecond) {
		if time.Since(begun) > patience {
			return fmt.Errorf("%d large requests are in memory, want %d", len(h.large), maxLarge)
		}
	}
	large := strings.Repeat(" ", 2<<20) + `{"rows": [{"x": 1}]}`
	waits := dialled(t, address, posted(len(large))+large[:firstRead])
	if status, text := received(t, dialled(t, address, posted(len(large)-2<<20)+large[2<<20:])); status != http.StatusOK {
		return fmt.Errorf("a small request: %d %s", status, text)
	}
	if _, err := io.WriteString(waits, large[firstRead:]); err != nil {
		return err
	}
	if status, text := received(t, waits); status != http.StatusOK {
		return fmt.Errorf("a large request: %d %s", status, text)
	}
	return nil
}

// Blanks take a time that is linear in their number, wherever they stand.
func TestBlanksAreLinear(t *testing.T) {
	t.Parallel()
	h := patient(t, time.Minute)
	blanks := strings.Repeat(" \n\t\r", 15<<18)
	for _, body := range []string{
		blanks + `{"rows": [{"x": 1}]}`, `{"rows":` + blanks + `[{"x": 1}]}`, `{"rows": [{"x":` + blanks + `1}]}`, `{"rows": [{"x": 1}]}` + blanks,
	} {
		begun := time.Now()
		code, text := post(h, body)
		if took := time.Since(begun); code != http.StatusOK || took > 25*time.Second { // 0.1 s on a quiet machine; 30 s if quadratic
			t.Errorf("%.15q: %d %s after %v", body, code, text, took)
		}
	}
}

// The page of a run does not wait for a body either, and a client that stalls in its headers or does
// not take the page loses the connection.
func TestSlowClientsOfARun(t *testing.T) {
	t.Parallel()
	const patience = 300 * time.Millisecond
	large := strings.Repeat("x", 64<<20)
	address := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" { // without its size, which would give the client more time
			w.WriteHeader(http.StatusOK)
			_, err := io.WriteString(w, large)
			if err == nil {
				t.Error("all was written to a client that reads nothing")
			}
			return
		}
		New(t.TempDir(), "", log.New(io.Discard, "", 0)).ServeHTTP(w, r)
	}), patience)
	if status, _ := received(t, dialled(t, address, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nxyz")); status != http.StatusOK {
		t.Errorf("with a body that stalls: %d", status)
	}
	closed := func(c net.Conn) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") || n == int64(len(large)) {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
	closed(dialled(t, address, "GET / HTTP/1.1\r\nHost: localh"))
	c := dialled(t, address, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
	time.Sleep(3 * patience)
	closed(c)
}
