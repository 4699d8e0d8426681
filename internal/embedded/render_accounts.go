package embedded

// accounts writes the system account, which the package asks about the state
// of the broker, and the caller's. With no account but the system's the server
// keeps the global account open to everyone (server.go, configureAccounts).
func (t *configText) accounts(c Config, sys User) {
	t.line("accounts {\n  \"$SYS\" {")
	t.users([]User{sys})
	t.line("  }")
	for _, a := range c.Accounts {
		t.line("  %s {", quote(a.Name))
		t.users(a.Users)
		if !c.NoJetStream && !a.NoJetStream {
			t.limits(a.Limits)
		}
		t.line("  }")
	}
	t.line("}\nsystem_account: \"$SYS\"")
	if c.NoAuthUser != "" {
		t.line("no_auth_user: %s", quote(c.NoAuthUser))
	}
}

func (t *configText) limits(l Limits) {
	if l == (Limits{}) {
		t.line("  jetstream: enabled")
		return
	}
	t.line("  jetstream {")
	t.size("max_mem", l.MaxMemory)
	t.size("max_file", l.MaxStore)
	t.size("mem_max_stream_bytes", l.MaxMemoryStream)
	t.size("disk_max_stream_bytes", l.MaxStream)
	t.size("max_streams", int64(l.MaxStreams))
	t.size("max_consumers", int64(l.MaxConsumers))
	t.size("max_ack_pending", int64(l.MaxAckPending))
	t.line("  max_bytes_required: %t\n  }", l.MaxBytesRequired)
}

func (t *configText) users(users []User) {
	t.line("  users: [")
	for _, u := range users {
		t.line("    {user: %s, password: %s, permissions: {", quote(u.Name), quote(u.Password))
		t.permission("publish", u.Publish)
		t.permission("subscribe", u.Subscribe)
		t.line("    }}")
	}
	t.line("  ]")
}

func (t *configText) permission(name string, p Permission) {
	if len(p.Allow) == 0 && len(p.Deny) == 0 {
		return
	}
	t.line("      %s: {", name)
	if len(p.Allow) > 0 {
		t.line("        allow: %s", list(p.Allow))
	}
	if len(p.Deny) > 0 {
		t.line("        deny: %s", list(p.Deny))
	}
	t.line("      }")
}
