package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/natsmig/natsmig/audit/broker"
)

// versionCommand is `natsmig version`.
type versionCommand struct{}

// Run implements the command. Kong calls it.
func (*versionCommand) Run(std *streams) error {
	var lines []string
	for _, v := range broker.Lines() {
		lines = append(lines, v.Line())
	}
	_, err := fmt.Fprintf(std.out, "natsmig %s\nbroker lines: %s (model written against %s)\n", version(), strings.Join(lines, ", "), broker.Newest)
	return err
}

// version is the module's, as the go command stamped it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
