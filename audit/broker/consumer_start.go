package broker

// startWords is what the broker calls a deliver policy in its refusals.
var startWords = map[DeliverPolicy]string{
	DeliverAll:             "all",
	DeliverLast:            "last",
	DeliverLastPerSubject:  "last per subject",
	DeliverNew:             "new",
	DeliverByStartSequence: "by start sequence",
	DeliverByStartTime:     "by start time",
}

// checkStart wants a start position exactly where the deliver policy asks for
// one.
func checkStart(r *consumerRequest) *refusal {
	c := r.c
	words := startWords[c.DeliverPolicy]
	wantSeq, wantTime := c.DeliverPolicy == DeliverByStartSequence, c.DeliverPolicy == DeliverByStartTime
	haveSeq, haveTime := c.OptStartSeq != 0, c.OptStartTime != nil
	switch {
	case wantTime && !haveTime:
		return startRefusal("opt_start_time", words, "optional start time is not set")
	case wantTime && haveSeq:
		return startRefusal("opt_start_seq", words, "optional start start sequence is also set")
	case wantSeq && !haveSeq:
		return startRefusal("opt_start_seq", words, "optional start sequence is not set")
	case !wantSeq && haveSeq:
		return startRefusal("opt_start_seq", words, "optional start sequence is also set")
	case !wantTime && haveTime:
		return startRefusal("opt_start_time", words, "optional start time is also set")
	case c.DeliverPolicy == DeliverLastPerSubject && len(c.Filters()) == 0:
		return startRefusal("filter_subject", words, "optional filter subject is not set")
	}
	return nil
}

func startRefusal(field, policy, rest string) *refusal {
	return refuse(field, 400, 10094, "consumer delivery policy is deliver "+policy+", but "+rest)
}
