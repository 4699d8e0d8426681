package rehearse

// WithModel makes another model of the one that is asked.
func WithModel(o Options, predict predictor) Options {
	o.predict = predict
	return o
}
