package main

import (
	"os"
	"testing"
)

func TestKernelsAreCurrent(t *testing.T) {
	got, err := os.ReadFile("../kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != kernels() {
		t.Error("kernels_amd64.s differs from what gen prints: run go generate ./internal/linalg")
	}
}
