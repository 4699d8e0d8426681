package engine

import (
	"testing"
	"time"
)

func TestParseReply(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 1700000000123456789)
	want := Delivery{Count: 3, StreamSeq: 41, ConsumerSeq: 77}
	for reply, ok := range map[string]bool{
		"$JS.ACK.S.d.3.41.77.1700000000123456789.5":                    true,
		"$JS.ACK.hub.A1B2.S.d.3.41.77.1700000000123456789.5":           true,
		"$JS.ACK._.A1B2.S.d.3.41.77.1700000000123456789.5.x7Yz":        true,
		"$JS.ACK._.A1B2.S.d.3.41.77.1700000000123456789.5.x.y.z":       true,
		"$JS.ACK.S.d.3.41.77.1700000000123456789":                      false, // too few
		"$JS.ACK.S.d.3.41.77.1700000000123456789.5.6":                  false, // neither form
		"$JS.ACK.S.d.3.41.x.1700000000123456789.5":                     false,
		"$JS.ACK.S.d.3.41..1700000000123456789.5":                      false,
		"$JS.ACK.S.d.3.41.170000000012345678900.1700000000123456789.5": false, // no 64 bits
		"$JS.API.S.d.3.41.77.1700000000123456789.5":                    false,
		"_INBOX.x": false,
		"":         false,
	} {
		var got Delivery
		if err := parseReply(&got, reply); (err == nil) != ok {
			t.Errorf("%q: %v", reply, err)
		} else if ok && (got.Count != want.Count || got.StreamSeq != want.StreamSeq || got.ConsumerSeq != want.ConsumerSeq || got.Pending() != 5 || !got.Stored().Equal(at)) {
			t.Errorf("%q: %+v", reply, got)
		}
	}
}
