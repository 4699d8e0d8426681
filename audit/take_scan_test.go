package audit

import (
	"encoding/json"
	"testing"
)

// FuzzPage takes a listing apart as encoding/json does.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"total": 2, "limit":256,"consumers" : [ {"name":"a"} , {"name":"b","config":{"description":"\\\"}]["}} ], "x": [1,{"y":"]"}]}`,
		`{"consumers":[]}`, `{"streams":null,"missing":["a"],"offline":{"b":"c"}}`, `{"consumers":["a",1,true,[],{}]}`, `{"consumers":{"total":1}}`, `{"consumers": [`, `{"a":`, `{"`, `"`, ``, `[]`, `{"a" 1}`, `{"total":}`, `{"\\":"\\\\","total":3}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parsePage(data)
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil || err != nil {
			return // it only must not panic
		}
		var items []json.RawMessage
		raw, ok := want["consumers"]
		if _, both := want["streams"]; both || !ok || json.Unmarshal(raw, &items) != nil {
			return
		}
		if len(got.items) != len(items) {
			t.Fatalf("%d items, want %d: %s", len(got.items), len(items), data)
		}
		for i := range items {
			if string(got.items[i]) != string(items[i]) {
				t.Errorf("item %d is %s, want %s", i, got.items[i], items[i])
			}
		}
	})
}
