// Package report writes an [audit.Report] in the form that was asked for:
// [Write] with a [Format], and [WriteRehearsal] an [audit.Rehearsal]. [Value] and [Duration] are how single values read,
// here and wherever else the command speaks of a configuration.
//
// The forms for people hold to these rules:
//
//   - What could not be checked is told before what was.
//   - Every field that changes stands on a line of its own as
//     FIELD OLD -> NEW, never wrapped, with - for a value that is absent, so
//     that it can be searched for. The words "not stored:" stand before it where
//     the broker refuses the request.
//   - An entry with nothing to say is folded into one closing line.
//   - Text that came from a broker or a file cannot act on a terminal or break
//     out of its place: control characters, invisible format characters and
//     broken UTF-8 read as Go escapes, such as \x1b and \u202e.
//   - [ASCII] writes ASCII only. Other letters read as Go escapes, because a log
//     that can carry nothing else would damage them beyond recognition.
//
// The same report and options give the same bytes. Streams come
// before consumers, each in the report's own order. The package does not decide
// on color or width, does not count or judge, and knows no exit status.
package report
