package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// streams are where the answer and the talk go.
type streams struct{ out, err io.Writer }

// width is how wide the terminal behind w is, 0 when there is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// color says whether to use colors on w.
func color(w io.Writer) bool {
	_, no := os.LookupEnv("NO_COLOR")
	return !no && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// progressBar draws how far a snapshot is, where a terminal watches.
func progressBar(w io.Writer) (report func(done, total int), end func()) {
	if !isTerminal(w) {
		return nil, func() {}
	}
	const cells = 30
	drawn, last := false, time.Time{}
	report = func(done, total int) {
		if total == 0 || done < total && time.Since(last) < 50*time.Millisecond {
			return
		}
		drawn, last = true, time.Now()
		full := min(cells*done/total, cells)
		fmt.Fprintf(w, "\rreading consumers [%-*s] %d of %d", cells, bar(full), done, total)
	}
	return report, func() {
		if drawn {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}

func bar(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '#'
	}
	return string(b)
}
