package broker

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A consumerCheck is one reason to refuse a consumer, whether it is new or not.
// The broker applies them in this order, after the defaults; the first that
// speaks is its answer (consumer.go:734 checkConsumerCfg of 2.15.3).
type consumerCheck struct {
	Check
	refuses func(*consumerRequest) *refusal
}

// consumerRequest is everything that a check may look at.
type consumerRequest struct {
	Broker
	c      *ConsumerConfig
	stream *StreamConfig
	host   *Stream // with the same config
}

var consumerChecks = []consumerCheck{
	{check("the characters of the names", 12, 0, "consumer.go:743").from(&assetNames), checkNames},
	{check("replicas, and the stream's", 0, 0, "consumer.go:750"), checkConsumerReplicas},
	{check("negative waits", 12, 0, "consumer.go:776"), checkNegativeWaits},
	{check("ack_policy flow_control", 14, 0, "consumer.go:786"), checkFlowControlPolicy},
	{check("backoff against max_deliver", 0, 0, "consumer.go:811"), checkLadder},
	{check("the length of the description", 0, 0, "consumer.go:816"), checkDescription},
	{check("a push consumer", 0, 0, "consumer.go:820"), checkPush},
	{check("a pull consumer", 0, 0, "consumer.go:840"), checkPull},
	{check("max_ack_pending against the server's and the account's limit", 0, 0, "consumer.go:867"), checkAckPendingLimits},
	{check("the stream's consumer_limits", 10, 0, "consumer.go:873"), checkConsumerLimits},
	{check("direct", 0, 0, "consumer.go:880"), checkDirect},
	{check("the filter against the stream's subjects", 0, 9, "consumer.go:4683 of 2.9.25"), checkFilter29},
	{check("the filters, and each against the others", 10, 0, "consumer.go:890"), checkFilters},
	{check("the start position against deliver_policy", 0, 0, "consumer.go:921"), checkStart},
	{check("sample_freq", 0, 0, "consumer.go:978"), checkSampling},
	{check("flow control without a heartbeat", 0, 0, "consumer.go:985"), checkFlowControlHeartbeat},
	{check("name against durable_name", 0, 12, "consumer.go:823 of 2.11.17").to(&subjectsName), checkNameMismatch},
	{check("the size of the metadata", 10, 0, "consumer.go:996"), checkConsumerMetadata},
	{check("priority groups of a policy", 11, 0, "consumer.go:1004"), checkPriority},
	{check("priority groups without a policy", 12, 0, "consumer.go:1021"), checkNoPriority},
}

func (r *consumerRequest) check() *refusal {
	for i := range consumerChecks {
		k := &consumerChecks[i]
		if !k.holds(r.Version) {
			continue
		}
		if no := k.refuses(r); no != nil {
			return no
		}
	}
	return nil
}

func checkNames(r *consumerRequest) *refusal {
	if r.c.Name != "" && !validAssetName(r.c.Name) {
		return refuse("name", 500, 10052, `consumer name can not contain '.', '*', '>', '\', '/'`)
	}
	if r.c.Durable != "" && !validAssetName(r.c.Durable) {
		return refuse("durable_name", 500, 10052, `consumer durable name can not contain '.', '*', '>', '\', '/'`)
	}
	return nil
}

func checkConsumerReplicas(r *consumerRequest) *refusal {
	n, have := r.c.Replicas, r.stream.Replicas
	switch {
	case n > 0 && n > have:
		return refuse("num_replicas", 400, 10126, "consumer config replica count exceeds parent stream")
	case n < 0:
		return refuse("num_replicas", 400, 10133, "replicas count cannot be negative")
	case n != 0 && n != have && r.stream.Retention != LimitsRetention:
		return refuse("num_replicas", 400, 10134, "consumer config replicas must match interest retention stream's replicas")
	}
	return nil
}

func checkNegativeWaits(r *consumerRequest) *refusal {
	if slices.ContainsFunc(r.c.Backoff, func(d time.Duration) bool { return d < 0 }) {
		return refuse("backoff", 400, 10184, "consumer backoff needs to be positive")
	}
	if r.c.AckWait < 0 {
		return refuse("ack_wait", 400, 10183, "consumer ack wait needs to be positive")
	}
	return nil
}

func checkFlowControlPolicy(r *consumerRequest) *refusal {
	c := r.c
	switch {
	case c.AckPolicy != AckFlowControl:
	case !c.Push():
		return refuse("ack_policy", 400, 10218, "flow control ack policy requires a push based consumer")
	case c.MaxAckPending <= 0:
		return refuse("max_ack_pending", 400, 10220, "flow control ack policy requires max ack pending")
	case c.AckWait != 0 || len(c.Backoff) > 0:
		return refuse("ack_wait", 400, 10221, "flow control ack policy requires unset ack wait")
	case c.MaxDeliver > 0:
		return refuse("max_deliver", 400, 10222, "flow control ack policy requires unset max deliver")
	}
	return nil
}

// checkLadder refuses a ladder longer than max_deliver, whatever its text says;
// older brokers also one that is as long, and any ladder without a bound.
func checkLadder(r *consumerRequest) *refusal {
	n, most := len(r.c.Backoff), r.c.MaxDeliver
	switch {
	case n == 0 || most == -1 && r.Version.has(&unlimitedLadder):
	case n > most, n == most && !r.Version.has(&fullLadder):
		return refuse("backoff", 400, 10116, "max deliver is required to be > length of backoff values")
	}
	return nil
}

const (
	maxDescription = 4 * 1024
	maxMetadata    = 128 * 1024
	maxName        = 255
)

func checkDescription(r *consumerRequest) *refusal {
	if len(r.c.Description) > maxDescription {
		return refuse("description", 400, 10107, fmt.Sprintf("consumer description is too long, maximum allowed is %d", maxDescription))
	}
	return nil
}

func checkPush(r *consumerRequest) *refusal {
	c := r.c
	switch {
	case !c.Push():
	case !literalSubject(c.DeliverSubject):
		return refuse("deliver_subject", 400, 10079, "consumer deliver subject has wildcards")
	case !ValidSubject(c.DeliverSubject) || r.Version.has(&ownDestinations) && reservedDestination(c.DeliverSubject):
		return refuse("deliver_subject", 400, 10112, "invalid push consumer deliver subject")
	case slices.ContainsFunc(r.stream.Subjects, func(s string) bool { return SubjectWithin(c.DeliverSubject, s) }):
		return refuse("deliver_subject", 400, 10081, "consumer deliver subject forms a cycle")
	case c.MaxWaiting != 0:
		return refuse("max_waiting", 400, 10080, "consumer in push mode can not set max waiting")
	case c.MaxAckPending > 0 && c.AckPolicy == AckNone:
		return refuse("max_ack_pending", 400, 10082, "consumer requires ack policy for max ack pending")
	case c.IdleHeartbeat > 0 && c.IdleHeartbeat < 100*time.Millisecond:
		return refuse("idle_heartbeat", 400, 10083, "consumer idle heartbeat needs to be >= 100ms")
	}
	return nil
}

func checkPull(r *consumerRequest) *refusal {
	c := r.c
	switch {
	case c.Push():
	case c.AckPolicy == AckNone && r.stream.Retention == WorkQueueRetention:
		return refuse("ack_policy", 400, 10084, r.pullAckWords())
	case c.RateLimit > 0:
		return refuse("rate_limit_bps", 400, 10086, "consumer in pull mode can not have rate limit set")
	case c.MaxWaiting < 0:
		return refuse("max_waiting", 400, 10087, "consumer max waiting needs to be positive")
	case c.IdleHeartbeat > 0:
		return refuse("idle_heartbeat", 400, 10088, "consumer idle heartbeat requires a push based consumer")
	case c.FlowControl:
		return refuse("flow_control", 400, 10089, "consumer flow control requires a push based consumer")
	case c.MaxBatch < 0:
		return refuse("max_batch", 400, 10114, "consumer max request batch needs to be > 0")
	case c.MaxExpires != 0 && c.MaxExpires < time.Millisecond:
		return refuse("max_expires", 400, 10115, "consumer max request expires needs to be >= 1ms")
	case r.Limits.MaxRequestBatch > 0 && c.MaxBatch > r.Limits.MaxRequestBatch:
		return refuse("max_batch", 400, 10125, fmt.Sprintf("consumer max request batch exceeds server limit of %d", r.Limits.MaxRequestBatch))
	}
	return nil
}

func (b Broker) pullAckWords() string {
	if !b.Version.AtLeast(11) {
		return "consumer in pull mode requires ack policy"
	}
	return "consumer in pull mode requires explicit ack policy on workqueue stream"
}

func ackPendingExcess(limit int) *refusal {
	return refuse("max_ack_pending", 400, 10121, fmt.Sprintf("consumer max ack pending exceeds system limit of %d", limit))
}

func checkAckPendingLimits(r *consumerRequest) *refusal {
	for _, limit := range []int{r.Limits.MaxAckPending, r.Limits.AccountAckPending} {
		if limit > 0 && r.c.MaxAckPending > limit {
			return ackPendingExcess(limit)
		}
	}
	return nil
}

func checkConsumerLimits(r *consumerRequest) *refusal {
	lim := r.stream.ConsumerLimits
	if lim.MaxAckPending > 0 && r.c.MaxAckPending > lim.MaxAckPending {
		return ackPendingExcess(lim.MaxAckPending)
	}
	if lim.InactiveThreshold > 0 && r.c.InactiveThreshold > lim.InactiveThreshold {
		return refuse("inactive_threshold", 400, 10153, fmt.Sprintf("consumer inactive threshold exceeds system limit of %v", lim.InactiveThreshold))
	}
	return nil
}

func checkDirect(r *consumerRequest) *refusal {
	switch {
	case !r.c.Direct:
	case !r.c.Push():
		return refuse("direct", 400, 10090, "consumer direct requires a push based consumer")
	case r.c.Durable != "":
		return refuse("direct", 400, 10091, "consumer direct requires an ephemeral consumer")
	}
	return nil
}

// checkFilter29 wants the filter to be within a subject of the stream, or of a
// stream that it draws from, or with wildcards around one (consumer.go:478 of
// 2.9.25). Later lines accept a filter that matches nothing.
func checkFilter29(r *consumerRequest) *refusal {
	f := r.c.FilterSubject
	if f == "" {
		return nil
	}
	subjects, elsewhere := r.host.reach()
	if elsewhere {
		return nil
	}
	if !ValidSubject(f) || !slices.ContainsFunc(subjects, func(s string) bool { return SubjectWithin(f, s) || SubjectWithin(s, f) }) {
		return refuse("filter_subject", 400, 10093, "consumer filter subject is not a valid subset of the interest subjects")
	}
	return nil
}

// reach lists the subjects of the stream and of those that it draws from. It may
// draw from elsewhere, too, and then nobody knows them all.
func (s *Stream) reach() (subjects []string, elsewhere bool) {
	seen := map[string]bool{s.Config.Name: true}
	for queue := []*StreamConfig{s.Config}; len(queue) > 0; queue = queue[1:] {
		subjects = append(subjects, queue[0].Subjects...)
		for _, origin := range queue[0].origins() {
			if origin.External != nil {
				return subjects, true
			}
			i := slices.IndexFunc(s.Peers, func(p *StreamConfig) bool { return p.Name == origin.Name })
			if i >= 0 && !seen[origin.Name] {
				seen[origin.Name] = true
				queue = append(queue, s.Peers[i])
			}
		}
	}
	return subjects, false
}

// origins are what a stream draws from: its mirror, or its sources.
func (c *StreamConfig) origins() []*Source {
	if c.Mirror != nil {
		return []*Source{c.Mirror}
	}
	return slices.DeleteFunc(slices.Clone(c.Sources), func(s *Source) bool { return s == nil })
}

func checkFilters(r *consumerRequest) *refusal {
	c := r.c
	if c.FilterSubject != "" && len(c.FilterSubjects) > 0 {
		return refuse("filter_subjects", 400, 10136, "consumer cannot have both FilterSubject and FilterSubjects specified")
	}
	if c.FilterSubject != "" && !ValidSubject(c.FilterSubject) {
		return refuse("filter_subject", 500, 10052, "invalid subject")
	}
	if slices.Contains(c.FilterSubjects, "") {
		return refuse("filter_subjects", 400, 10139, "consumer filter in FilterSubjects cannot be empty")
	}
	overlap := SubjectWithin
	if !r.Version.AtLeast(12) {
		overlap = SubjectsCollide
	}
	for i, outer := range c.FilterSubjects {
		if !ValidSubject(outer) {
			return refuse("filter_subjects", 500, 10052, "invalid subject")
		}
		for j, inner := range c.FilterSubjects {
			if i != j && overlap(outer, inner) {
				return refuse("filter_subjects", 400, 10138, "consumer subject filters cannot overlap")
			}
		}
	}
	return nil
}

func checkSampling(r *consumerRequest) *refusal {
	if r.c.SampleFrequency == "" {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(r.c.SampleFrequency, "%"))
	if err == nil && n >= 0 {
		return nil
	}
	return refuse("sample_freq", 400, 10095, fmt.Sprintf("failed to parse consumer sampling configuration: %v", err))
}

func checkFlowControlHeartbeat(r *consumerRequest) *refusal {
	if r.c.FlowControl && r.c.IdleHeartbeat == 0 {
		return refuse("flow_control", 400, 10108, "consumer with flow control also needs heartbeats")
	}
	return nil
}

func checkNameMismatch(r *consumerRequest) *refusal {
	if r.c.mismatched() {
		return refuse("name", 400, 10132, "Consumer Durable and Name have to be equal if both are provided")
	}
	return nil
}

func checkConsumerMetadata(r *consumerRequest) *refusal {
	var n int
	for k, v := range r.c.Metadata {
		n += len(k) + len(v)
	}
	if n > maxMetadata {
		return refuse("metadata", 400, 10135, fmt.Sprintf("consumer metadata exceeds maximum size of %dKB", maxMetadata/1024))
	}
	return nil
}

// validGroup is jetstream's rule for a priority group (consumer.go
// validGroupName).
var validGroup = regexp.MustCompile(`^[a-zA-Z0-9/_=-]{1,16}$`)

func checkPriority(r *consumerRequest) *refusal {
	c := r.c
	switch {
	case c.PriorityPolicy == "":
		return nil
	case c.Push() && r.Version.has(&pullPriority):
		return refuse("priority_policy", 400, 10178, "priority groups can not be used with push consumers")
	case len(c.PriorityGroups) == 0:
		return refuse("priority_groups", 400, 10159, "Setting PriorityPolicy requires at least one PriorityGroup to be set")
	}
	for _, g := range c.PriorityGroups {
		if g == "" {
			return refuse("priority_groups", 400, 10161, "Group name cannot be an empty string")
		}
		if !validGroup.MatchString(g) {
			return refuse("priority_groups", 400, 10162, "Valid priority group name must match A-Z, a-z, 0-9, -_/=)+ and may not exceed 16 characters")
		}
	}
	return nil
}

func checkNoPriority(r *consumerRequest) *refusal {
	switch c := r.c; {
	case c.PriorityPolicy != "":
	case len(c.PriorityGroups) > 0:
		return refuse("priority_groups", 400, 10196, "consumer can not have priority groups when policy is none")
	case c.PriorityTimeout > 0:
		return refuse("priority_timeout", 400, 10197, "PinnedTTL cannot be set when PriorityPolicy is none")
	}
	return nil
}
