package sim

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// serversFile is the external references of a case in its file.
type serversFile struct {
	MinReferences int          `json:"min_references"`
	List          []serverFile `json:"list"`
}

type serverFile struct {
	Nodes  idList  `json:"nodes"`
	Every  span    `json:"every"`
	Least  span    `json:"min_delay,omitzero"`
	Delay  span    `json:"delay"`
	Tail   span    `json:"tail,omitzero"`
	Index  float64 `json:"tail_index,omitempty"`
	Skew   float64 `json:"asymmetry,omitempty"`
	Loss   float64 `json:"loss,omitempty"`
	Burst  int     `json:"burst,omitempty"`
	Error  span    `json:"error"`
	Bias   span    `json:"bias"`
	Shift  span    `json:"shift,omitzero"`
	Ramp   int64   `json:"ramp_ppb,omitempty"`
	From   span    `json:"from,omitzero"`
	Until  span    `json:"until,omitzero"`
	Silent span    `json:"silent,omitzero"`
	Back   span    `json:"back,omitzero"`
}

func serversToFile(s *Servers) *serversFile {
	if s == nil {
		return nil
	}
	f := &serversFile{MinReferences: s.MinReferences, List: []serverFile{}}
	for i := range s.List {
		x := &s.List[i]
		f.List = append(f.List, serverFile{idList(x.Nodes), span(x.Every), span(x.MinDelay), span(x.Delay), span(x.Tail), x.Index, x.Asymmetry, x.Loss, x.Burst, span(x.Error), span(x.Bias),
			span(x.Shift), x.Ramp, span(x.From), span(x.Until), span(x.Silent), span(x.Back)})
	}
	return f
}

func (f *serversFile) servers() *Servers {
	if f == nil {
		return nil
	}
	s := &Servers{MinReferences: f.MinReferences}
	for i := range f.List {
		x := &f.List[i]
		s.List = append(s.List, Server{Nodes: timed.Set(x.Nodes), Every: time.Duration(x.Every), MinDelay: time.Duration(x.Least), Delay: time.Duration(x.Delay),
			Tail: time.Duration(x.Tail), Index: x.Index, Asymmetry: x.Skew, Loss: x.Loss, Burst: x.Burst,
			Error: time.Duration(x.Error), Bias: time.Duration(x.Bias), Shift: time.Duration(x.Shift), Ramp: x.Ramp,
			From: time.Duration(x.From), Until: time.Duration(x.Until), Silent: time.Duration(x.Silent), Back: time.Duration(x.Back)})
	}
	return s
}
