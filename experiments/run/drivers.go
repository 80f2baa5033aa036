package run

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// driversName is the file with the drivers of the answers, a list of record.Drivers.
const driversName = "importance.json"

// readDrivers returns the recorded drivers by the predictions that they belong to.
func readDrivers(dir string) (map[string]*record.Drivers, error) {
	var all []*record.Drivers
	text, err := os.ReadFile(filepath.Join(dir, driversName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w; delete it, and gpc-tune run --resume measures it again", ErrFolder,
			driversName, err)
	}
	out := map[string]*record.Drivers{}
	for _, d := range all {
		out[d.Of] = d
	}
	return out, nil
}

// drive adds the recorded drivers to a report. measure returns the drivers of an answer without
// recorded ones, and they are then recorded; nil: such an answer has none. The base rate has none,
// because it has no inputs.
func drive(dir string, r *reports.Report, measure func(reports.Answer) (*record.Drivers, error)) error {
	recorded, err := readDrivers(dir)
	if err != nil {
		return err
	}
	var all []*record.Drivers
	news, answers := false, r.Decided()
	for i, a := range answers {
		of := heldOut(a)
		d := recorded[of]
		if a.Skill != nil && r.Configurations[a.Configuration].Inference.Name() == a.Skill.Against {
			continue
		}
		if d == nil && measure != nil && of != "" {
			if d, err = measure(a); err != nil {
				return err
			}
			if d != nil {
				d.Of, news = of, true
			}
		}
		answers[i].Drivers = d
		r.DoubtDrivers(&answers[i])
		if d != nil {
			all = append(all, d)
		}
	}
	if len(answers) > 0 {
		r.Answer = &answers[0]
	}
	if !news {
		return nil
	}
	err = atomicfile.Write(filepath.Join(dir, driversName), func(w io.Writer) error {
		return reports.WriteJSON(w, all)
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnreported, err)
	}
	return err
}

// heldOut identifies the held-out predictions that the score of an answer is computed from, by
// their SHA-256; "" without all of them.
func heldOut(a reports.Answer) string {
	h := sha256.New()
	for _, s := range a.Scored() {
		p := s.Predictions
		if p == nil { // a fold is missing
			return ""
		}
		values := slices.Concat(p.Mean, p.Variance)
		if p.Proba != nil {
			values = append(values, p.Proba.RawMatrix().Data...)
		}
		fmt.Fprintln(h, s.Fit.Configuration, s.Fit.Study, s.Evaluation, p.Cases)
		binary.Write(h, binary.LittleEndian, values) // a hash does not fail
	}
	if a.Scored() == nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
