// Package engine keeps the delivery of one durable pull consumer alive: it
// provisions or binds the durable, asks for messages, notices when they stop
// coming and why, and ends without leaving a message behind. The consumer runner
// and the mirror stand on it; it knows neither handlers nor logs, and says what
// happens through [Config.On].
//
// An [Engine] has one goroutine, [Engine.Run], which sets up, watches and drains;
// the goroutines that handle messages call [Engine.Next] and [Engine.Settle].
// Messages go from the client library's read loop to them through one channel:
//
//	broker -> inbox of the epoch -> channel -> Next -> caller -> Settle -> broker
//
// What it does that the loops of nats.go v1.55.0 do not:
//
//   - It asks only for as many messages as callers are free to take
//     ([Config.InFlight]), so nothing is buffered that could be thrown away, and no
//     delivery is spent on a message that nobody looked at.
//   - It unsubscribes only after its last pull has ended. The server looks for
//     interest and sends then, so that an UNSUB in between strands a message.
//   - It has one inbox for the life of a connection, an epoch. After a reconnect
//     it asks anew on another one: pulls of the old inbox find no interest, so
//     reconnecting asks for no more than before.
//   - It sees every status and heartbeat. Silence, "no responders" and every
//     status that ends a pull are followed by a look at the consumer, for only
//     that tells a missing consumer from a missing stream or leader.
//   - It knows the consumer by its creation time and by an ack floor that does not
//     go back. What is settled for a consumer that has been replaced is not sent:
//     the server matches by stream sequence alone.
//
// It buffers nothing, retries no message, and starts no second set-up while one
// is under way.
package engine
