package pattern

import "testing"

// TestOf: an expression is compiled at the first call, and once.
func TestOf(t *testing.T) {
	bad, good := Of(`(`), Of(`^a+$`)
	if !good().MatchString("aa") || good().MatchString("ab") || good() != good() {
		t.Error("^a+$ matches aa and not ab")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression does not panic")
		}
	}()
	bad()
}
