package declare_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCases tells what the audit makes of situations that people met and wrote
// about in public. Each archive under testdata/cases says in a sentence what
// happened, has the files as they were, reworded, and what natsmig says.
func TestCases(t *testing.T) { tellStories(t, "testdata/cases/*.txtar") }

// TestMistakes has declarations that can not be read. Every mistake of every file
// is told, with its place.
func TestMistakes(t *testing.T) { tellStories(t, "testdata/mistakes/*.txtar") }

func tellStories(t *testing.T, pattern string) {
	for _, s := range stories(t, pattern) {
		t.Run(s.name(), func(t *testing.T) {
			s.unpack(t)
			told := 0
			for i := range s.Files {
				f := &s.Files[i]
				_, args, ok := command(f.Name)
				if !ok {
					continue
				}
				told++
				l := parseLine(t, args)
				r, err := l.run()
				got := tell(r, err, "")
				if os.Getenv("UPDATE") != "" {
					f.Data = []byte(got)
				}
				if diff := cmp.Diff(string(f.Data), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
			if told == 0 {
				t.Error("the archive expects nothing")
			}
			s.save(t)
		})
	}
}
