package kernel

import "errors"

// PerClass declares that the latent function of each class has this kernel, with hyperparameters of
// its own. It stands outermost; a model has the kernel once for each class in its place.
type PerClass struct{ Kernel }

func (p PerClass) checkOptions() error {
	if p.Kernel == nil {
		return errors.New("per_class needs a kernel, as in {per_class: se}")
	}
	return nil
}
