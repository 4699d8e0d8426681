package embedded

import "syscall"

// dieWithParent keeps a broker from outliving a test binary that was killed or
// ran into its timeout: no clean-up runs there.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
