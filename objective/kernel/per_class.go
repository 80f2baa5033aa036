package kernel

import "errors"

// PerClass declares that the latent function of each class has this kernel, with separate
// hyperparameters. It cannot stand inside another kernel. A model replaces it by one kernel for
// each class.
type PerClass struct{ Kernel }

func (p PerClass) checkOptions() error {
	if p.Kernel == nil {
		return errors.New("per_class needs a kernel, as in {per_class: se}")
	}
	return nil
}
