//go:build !linux

package embedded

import "syscall"

// dieWithParent asks for nothing: there is no such service on this system.
func dieWithParent() *syscall.SysProcAttr { return nil }
