package wire

import "github.com/failaware/failaware/leader/epoch"

// An epoch frame is an array of one value: a state in the binary form of package
// epoch.
const epochLen = 1

func (w *writer) epoch(s *epoch.State) {
	w.open(typeEpoch, epochLen)
	if s == nil {
		w.fail(ErrEpoch)
		return
	}
	b := epoch.Append(nil, s)
	if _, err := epoch.Decode(b); err != nil {
		w.fail(ErrEpoch)
		return
	}
	w.bytes(b)
	w.close()
}

func (r *reader) epoch() *epoch.State {
	r.array(epochLen, epochLen)
	b := r.bytes()
	if r.err != nil {
		return nil
	}
	s, err := epoch.Decode(b)
	if err != nil {
		r.fail(ErrEpoch)
		return nil
	}
	return &s
}
