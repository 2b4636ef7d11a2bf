//go:build tools

// Package kwok names the fake kubelet for tests, so that go.mod and go.sum fix its version.
package kwok

import (
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
