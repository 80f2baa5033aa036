package live

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Who has the token is answered, in each of three ways, and only under a name of this machine.
func TestWhoIsAnswered(t *testing.T) {
	a := access{command: "gpc-tune x", token: "secret", open: "/health"}
	ask := func(a access, target string, change func(r *http.Request)) (*httptest.ResponseRecorder, int) {
		r, w := httptest.NewRequest("GET", target, nil), httptest.NewRecorder()
		if change != nil {
			change(r)
		}
		status, why := a.refuse(w, r)
		if (status == 0) != (why == "") || w.Header().Get("X-Content-Type-Options") == "" {
			t.Errorf("%s: %d %q, headers %v", target, status, why, w.Header())
		}
		return w, status
	}
	header := func(value string) func(r *http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", value) }
	}
	const host = "http://127.0.0.1:80"
	for _, c := range []struct {
		a      access
		target string
		change func(r *http.Request)
		want   int
	}{
		{a, host + "/", nil, 401}, {a, host + "/?token=secret", nil, 0}, {a, host + "/?token=secre", nil, 401}, {a, host + "/?token=", nil, 401},
		{a, host + "/health", nil, 0}, {a, host + "/healthy", nil, 401}, {a, host + "/", header("Bearer secret"), 0}, {a, host + "/", header("bearer secret"), 0},
		{a, host + "/", header("Basic secret"), 401}, {a, host + "/", header("Bearer other"), 401}, {a, host + "/", header("secret"), 401},
		{a, "http://localhost/?token=secret", nil, 0}, {a, "http://[::1]:8080/?token=secret", nil, 0}, {a, "http://127.9.9.9/?token=secret", nil, 0},
		{a, "http://example.org/?token=secret", nil, 421}, {a, "http://192.168.0.1/?token=secret", nil, 421}, {a, "http://example.org/health", nil, 421},
		{access{}, host + "/", nil, 0}, {access{}, "http://example.org/", nil, 421},
	} {
		if _, status := ask(c.a, c.target, c.change); status != c.want {
			t.Errorf("%s with %+v: %d, want %d", c.target, c.a, status, c.want)
		}
	}
	w, _ := ask(a, host+"/?token=secret", nil)
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Path != "/" {
		t.Fatalf("cookies %v", cookies)
	}
	if _, status := ask(a, host+"/", func(r *http.Request) { r.AddCookie(cookies[0]) }); status != 0 {
		t.Errorf("with the cookie: %d", status)
	}
	cookies[0].Value = "other"
	if w, status := ask(a, host+"/", func(r *http.Request) { r.AddCookie(cookies[0]) }); status != 401 || w.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("with another value: %d, headers %v", status, w.Header())
	}
	other := access{command: "gpc-tune x", token: "else"}
	if w, _ := ask(other, host+"/?token=else", nil); w.Result().Cookies()[0].Name == cookies[0].Name {
		t.Error("two servers of one host have one cookie")
	}
}
