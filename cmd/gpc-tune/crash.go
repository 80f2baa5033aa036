package main

import "runtime/debug"

// A crash of the Go runtime, out of memory for example, would end the program with exit code 2,
// which is that of usage. So it ends by SIGABRT.
func init() { debug.SetTraceback("crash") }
