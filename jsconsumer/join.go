package jsconsumer

// Join makes hooks that call those of each argument, in order.
func Join(hooks ...Hooks) Hooks {
	var all Hooks
	for _, h := range hooks {
		all = join(all, h)
	}
	return all
}

func join(a, b Hooks) Hooks {
	return Hooks{
		Bound:          both(a.Bound, b.Bound),
		Report:         both(a.Report, b.Report),
		Lost:           both(a.Lost, b.Lost),
		Disturbed:      both(a.Disturbed, b.Disturbed),
		Recreated:      both(a.Recreated, b.Recreated),
		RolledBack:     both(a.RolledBack, b.RolledBack),
		Rejected:       both(a.Rejected, b.Rejected),
		Denied:         both(a.Denied, b.Denied),
		Throttled:      both(a.Throttled, b.Throttled),
		Breached:       both(a.Breached, b.Breached),
		FloorPinned:    both(a.FloorPinned, b.FloorPinned),
		FloorReleased:  both(a.FloorReleased, b.FloorReleased),
		Disposed:       both(a.Disposed, b.Disposed),
		Panicked:       both(a.Panicked, b.Panicked),
		LeaseLost:      both(a.LeaseLost, b.LeaseLost),
		Stuck:          both(a.Stuck, b.Stuck),
		Captured:       both(a.Captured, b.Captured),
		CaptureFailing: both(a.CaptureFailing, b.CaptureFailing),
		Exhausted:      both(a.Exhausted, b.Exhausted),
		SweepFailing:   both(a.SweepFailing, b.SweepFailing),
		DrainStarted:   both(a.DrainStarted, b.DrainStarted),
		DrainEnded:     both(a.DrainEnded, b.DrainEnded),
	}
}

func both[T any](a, b func(T)) func(T) {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(v T) {
		a(v)
		b(v)
	}
}

func call[T any](hook func(T), v T) {
	if hook != nil {
		hook(v)
	}
}
