package live

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports/page"
)

// policies are headers of every response: no caching, no embedding elsewhere, no guessing of
// content types.
var policies = map[string]string{
	"Cache-Control": "no-store",
	"Content-Security-Policy": page.LivePolicy +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
}

// access decides which requests are answered. Every user of this machine can connect to a loopback
// address, so a request needs the token of the server: as ?token=…, which gives a browser a cookie
// for its further requests, or as a header Authorization: Bearer …
type access struct {
	command string // command that started the server
	token   string // empty: none is needed
	open    string // a path that needs no token
}

// refuse sets the headers of a response. If the request is refused, it returns the status code and
// the reason; otherwise 0.
func (a access) refuse(w http.ResponseWriter, r *http.Request) (status int, why string) {
	for name, value := range policies {
		w.Header().Set(name, value)
	}
	if !local(r.Host) {
		return http.StatusMisdirectedRequest, "this is " + a.command + ": call it localhost or 127.0.0.1"
	}
	if a.token == "" || r.URL.Path == a.open {
		return 0, ""
	}
	// A browser sends the cookies of a host to all of its ports, so each server has its own name.
	sum := sha256.Sum256([]byte(a.token))
	cookie := &http.Cookie{Name: "gpc-tune-" + hex.EncodeToString(sum[:4]), Value: a.token, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode}
	if a.is(r.URL.Query().Get("token")) {
		http.SetCookie(w, cookie)
		return 0, ""
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") && a.is(given) {
		return 0, ""
	}
	if sent, err := r.Cookie(cookie.Name); err == nil && a.is(sent.Value) {
		return 0, ""
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="gpc-tune"`)
	return http.StatusUnauthorized, "the token is missing or wrong: open the address that " + a.command +
		" printed when it started, or send its token as Authorization: Bearer TOKEN"
}

// is compares a token in constant time.
func (a access) is(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(a.token)) == 1
}

// local reports whether a Host names this machine, without asking name servers.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && address.IsLoopback()
}
