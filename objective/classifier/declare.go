package classifier

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/flow"
	"github.com/gpc-tune/gpc-tune/internal/modelfile"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// declare is a model as a model file declares it.
func declare(m objective.Model, average objective.Average) (d modelfile.Declared, err error) {
	if d.Kernel, err = kernelText(m.Kernels[0]); err != nil {
		return d, err
	}
	if len(m.Kernels) > 1 {
		d.Kernel = "{per_class: " + d.Kernel + "}"
	}
	d.Mean = "zero"
	if m.Mean != nil {
		if d.Mean, err = flow.Text(m.Mean, "prior mean", objective.Means); err != nil {
			return d, err
		}
	}
	if d.Likelihood, err = flow.Text(m.Likelihood, "likelihood", likelihood.Table); err != nil {
		return d, err
	}
	method := m.Inference
	d.Classes = "joint"
	if each, is := method.(approx.OneVsRest); is {
		method, d.Classes = each.Binary, "one_vs_rest"
	}
	if d.Inference, err = flow.Text(method, "inference", approx.Table); err != nil {
		return d, err
	}
	d.Average, err = flow.Text(average, "average", objective.Averages)
	return d, err
}

// kernelText is the text of a kernel.
func kernelText(k kernel.Kernel) (string, error) {
	list := func(name string, parts []kernel.Named) (string, error) {
		var texts []string
		for _, p := range parts {
			text, err := kernelText(p.Kernel)
			if err != nil {
				return "", err
			}
			texts = append(texts, text)
		}
		return "{" + name + ": [" + strings.Join(texts, ", ") + "]}", nil
	}
	switch k := k.(type) {
	case kernel.Sum:
		return list("sum", k)
	case kernel.Product:
		return list("product", k)
	case kernel.Active:
		inner, err := kernelText(k.Kernel)
		dims := strings.ReplaceAll(fmt.Sprint(k.Dims), " ", ", ")
		return "{active: {dims: " + dims + ", kernel: " + inner + "}}", err
	}
	return flow.Text(k, "kernel", kernel.Table)
}

// read makes the model that a file declares.
func read(d modelfile.Declared, classes int) (m objective.Model, average objective.Average, err error) {
	part := func(name, text string, read func(record.Node) error) {
		n, wrong := flow.Parse(text)
		if wrong == nil {
			wrong = read(n)
		}
		if wrong != nil && err == nil {
			err = modelfile.Wrong("model."+name, "%w", wrong)
		}
	}
	part("kernel", d.Kernel, func(n record.Node) error {
		each := len(n.Parts) == 1 && n.Parts[0].Key == "per_class"
		if each {
			n = n.Parts[0].Node
		}
		k, err := readKernel(n)
		m.Kernels = []kernel.Kernel{k}
		if each {
			m.Kernels = slices.Repeat(m.Kernels, classes)
		}
		return err
	})
	part("mean", d.Mean, func(n record.Node) (err error) {
		m.Mean, err = flow.Read(n, "prior mean", objective.Means)
		return err
	})
	part("likelihood", d.Likelihood, func(n record.Node) (err error) {
		m.Likelihood, err = flow.Read(n, "likelihood", likelihood.Table)
		return err
	})
	part("inference", d.Inference, func(n record.Node) (err error) {
		m.Inference, err = flow.Read(n, "inference", approx.Table)
		return err
	})
	part("average", d.Average, func(n record.Node) (err error) {
		average, err = flow.Read(n, "average", objective.Averages)
		return err
	})
	switch {
	case err != nil:
	case d.Classes == "one_vs_rest":
		m.Inference = approx.OneVsRest{Binary: m.Inference}
	case d.Classes != "joint":
		err = modelfile.Wrong("model.classes", "%q, want joint or one_vs_rest", d.Classes)
	}
	return m, average, err
}

// readKernel makes the kernel that a node declares.
func readKernel(n record.Node) (kernel.Kernel, error) {
	name, options, err := flow.Named(n, "kernel")
	if err != nil {
		return nil, err
	}
	switch name {
	case "sum", "product":
		if options == nil || len(options.Parts) == 0 {
			return nil, fmt.Errorf("%s needs a list of kernels", name)
		}
		var parts []kernel.Named
		for _, p := range options.Parts {
			k, err := readKernel(p.Node)
			if err != nil {
				return nil, err
			}
			kind, _, _ := flow.Named(p.Node, "kernel")
			parts = append(parts, kernel.Named{Kind: kind, Kernel: k})
		}
		if name == "sum" {
			return kernel.Sum(parts), nil
		}
		return kernel.Product(parts), nil
	case "active":
		return readActive(options)
	}
	return flow.Read(n, "kernel", kernel.Table)
}

// readActive makes a kernel on some of the columns.
func readActive(options *record.Node) (kernel.Kernel, error) {
	var a kernel.Active
	if options != nil {
		for _, p := range options.Parts {
			switch p.Key {
			case "dims":
				words := p.Parts
				if len(words) == 0 { // one is a list of one
					words = []record.Part{{Node: p.Node}}
				}
				for _, w := range words {
					dim, err := strconv.Atoi(w.Word)
					if err != nil || dim < 1 {
						return nil, fmt.Errorf("active: %q is no column, from 1", w.Word)
					}
					a.Dims = append(a.Dims, dim)
				}
			case "kernel":
				k, err := readKernel(p.Node)
				if err != nil {
					return nil, err
				}
				kind, _, _ := flow.Named(p.Node, "kernel")
				a.Named = kernel.Named{Kind: kind, Kernel: k}
			}
		}
	}
	if a.Kernel == nil || len(a.Dims) == 0 {
		return nil, errors.New("active needs dims and a kernel")
	}
	return a, nil
}
