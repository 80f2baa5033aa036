package pattern

import "testing"

// TestOf: an expression is compiled at the first call, and once.
func TestOf(t *testing.T) {
	bad, good := Of(`(`), Of(`^a+$`)
	once := good()
	if !once.MatchString("aa") || once.MatchString("ab") || good() != once {
		t.Error("^a+$ matches aa and not ab")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression does not panic")
		}
	}()
	bad()
}
