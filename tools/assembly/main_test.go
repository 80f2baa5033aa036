package main

import (
	"os"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

func TestKernelsAreCurrent(t *testing.T) {
	got, err := os.ReadFile("../../internal/linalg/kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "kernels_amd64.s is not what gen prints: run go generate ./internal/linalg", got, kernels())
}
