package timingcontract_test

import (
	"fmt"
	"time"

	"github.com/natsmig/natsmig/timingcontract"
)

// A mirror worker clones repositories for up to half an hour, and schedules its
// retries itself.
func mirrorWorker() timingcontract.Contract {
	return timingcontract.Contract{
		AckWait:    30 * time.Minute,
		MaxDeliver: 10,
		Handler: timingcontract.Handler{
			OnFailure: timingcontract.NakDelay,
			Delays:    []time.Duration{30 * time.Second},
			Budget:    30 * time.Minute,
		},
	}
}

// The stream that the worker works off belongs to somebody else, and its max_age
// can shrink. A service's own test reads it where it is declared (a file of the
// platform's, a snapshot, a staging broker) and fails with the breach's text:
//
//	if err := mirrorWorker().Err(stream); err != nil { t.Fatal(err) }
func ExampleContract_Err() {
	stream := timingcontract.Surroundings{MaxAge: 6 * time.Hour}
	fmt.Println(mirrorWorker().Err(stream))
	stream.MaxAge = 4 * time.Hour
	fmt.Println(mirrorWorker().Err(stream))
	// Output:
	// <nil>
	// outlives-max-age: a failing message is given up after 5h5m, but the stream deletes it after 4h (max_age): it vanishes 1h5m too soon, and the advisory is MSG_TERMINATED, so what listens for MAX_DELIVERIES misses it (residency 5h4m30s > max_age 4h; fix: shorten backoff or lower max_deliver until the envelope fits, or raise the stream's max_age)
}

// A test can want more than that it fits: here at least half an hour to spare.
func ExampleContract_Margin() {
	margin, err := mirrorWorker().Margin(timingcontract.Surroundings{MaxAge: 6 * time.Hour})
	fmt.Println(margin, err, margin >= 30*time.Minute)
	// Output: 55m30s <nil> true
}

func ExampleContract_Envelope() {
	orphan := timingcontract.Contract{
		Ladder: []time.Duration{
			30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour,
		},
		MaxDeliver: 8,
		Handler:    timingcontract.Handler{OnFailure: timingcontract.NakDelay, Delays: []time.Duration{30 * time.Second}},
	}
	fmt.Println(orphan.Envelope().LastAttempt.At) // "gives up after 3m30s", said the comment in the code
	// Output: 41h12m30s
}
