package embedded

import (
	"fmt"
	"os"
	"path/filepath"
)

// layout is where the files of one broker are.
type layout struct {
	root  string // temporary, removed on Close
	store string // JetStream's, inside root unless the caller named one
}

func newLayout(storeDir string) (layout, error) {
	root, err := os.MkdirTemp("", "natsmig-broker-")
	if err != nil {
		return layout{}, fmt.Errorf("make a directory for the server: %w", err)
	}
	if storeDir == "" {
		storeDir = filepath.Join(root, "store")
	}
	return layout{root: root, store: storeDir}, nil
}

func (l layout) config() string { return filepath.Join(l.root, "server.conf") }
func (l layout) ports() string  { return filepath.Join(l.root, "ports") }

// write puts the configuration in place, readable for this user alone because
// passwords are in it, and forgets the ports file of an earlier run.
func (l layout) write(config string) error {
	if err := os.RemoveAll(l.ports()); err != nil {
		return fmt.Errorf("remove old ports file: %w", err)
	}
	if err := os.Mkdir(l.ports(), 0o700); err != nil {
		return fmt.Errorf("make directory for the ports file: %w", err)
	}
	if err := os.WriteFile(l.config(), []byte(config), 0o600); err != nil {
		return fmt.Errorf("write the server's configuration: %w", err)
	}
	return nil
}

func (l layout) remove() error {
	if err := os.RemoveAll(l.root); err != nil {
		return fmt.Errorf("remove the server's directory: %w", err)
	}
	return nil
}
