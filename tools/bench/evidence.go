//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// gradients makes contenders of one evaluation of the log evidence and its gradient, from a cold
// start.
func (b *bench) gradients(s set, ard bool, free []float64) []contender {
	evaluate := func(r *objective.Run) answer {
		a := answer{Out: make([]float64, len(free))}
		must(r.Gradient(a.Out, free))
		a.Value = got(r.At(free)).Value()
		return a
	}
	run := objective.NewRun(context.Background(), s.laplace(ard))
	contenders := []contender{
		{"gpc-tune", here(func() answer { run.Reset(); return evaluate(run) })},
		{"gpc-tune, first evaluation", func() answer {
			o := s.laplace(ard)
			return here(func() answer { return evaluate(objective.NewRun(context.Background(), o)) })()
		}},
	}
	for _, p := range b.ways {
		contenders = append(contenders, contender{"scikit-learn, " + p.name, func() answer {
			a := p.do("gradient set=%s theta=%s ard=%t", s.name, sklearnTheta(free), ard)
			a.Out[0] *= 2
			return a
		}})
	}
	return contenders
}

func (b *bench) laplace() {
	b.say("laplace")
	var ratios []float64
	for _, s := range b.sets {
		all := race(2*b.rounds, b.gradients(s, false, s.theta[:])...)
		n, d := s.x.Dims()
		b.say("laplace, one set", s.name, n, d, s.theta[0], s.theta[1], all[0].first().Value, compare(all, 1e-8, 1e-4))
		b.times(all)
		ratios = append(ratios, all[0].nearest(all[2:]))
	}
	b.conclude("laplace", span(ratios))
}

func (b *bench) ard() {
	b.say("ard")
	s, ok := b.digits()
	if !ok {
		return
	}
	n, d := s.x.Dims()
	free := []float64{s.theta[0]}
	for k := range d {
		free = append(free, s.theta[1]+0.1*math.Sin(float64(k)))
	}
	all := race(1, b.gradients(s, true, free)...)
	b.say("ard, one set", s.name, n, len(free), compare(all, 1e-8, 1e-4))
	// memory counts from the first evaluation, which allocates it
	b.times(all, column{"memory", func(t timing) string {
		return fmt.Sprintf("%.0f MiB", slices.Max(t.sorted(func(a answer) float64 { return a.Bytes }))/(1<<20))
	}})
	b.conclude("ard", len(free), span([]float64{all[0].nearest(all[2:])}))
}

// tolerance is EP's default.
const tolerance = 1e-10

func (b *bench) sequentialEP() {
	b.say("ep", tolerance)
	var ratios []float64
	for _, s := range b.sets {
		o := s.objective(model(false, likelihood.Probit{}, approx.EP{}))
		contenders := []contender{{"gpc-tune", here(func() answer {
			p := got(o.At(context.Background(), s.theta[:]))
			return answer{Value: p.Value(), Evaluations: p.Diagnostics().Iterations}
		})}}
		for _, p := range b.ways {
			contenders = append(contenders, contender{"numpy, " + p.name, func() answer {
				return p.do("ep_sequential set=%s theta=%s tolerance=%g", s.name, sklearnTheta(s.theta[:]), tolerance)
			}})
		}
		all := race(2, contenders...)
		values, _, _ := strings.Cut(compare(all, 1e-8, 0), " and")
		b.say("ep, one set", s.name, all[0].first().Value, values)
		b.times(all, evaluations("sweeps"))
		ratios = append(ratios, all[0].nearest(all[1:]))
	}
	b.conclude("ep", span(ratios))
}

func (b *bench) kernlab() {
	const tolerance = 1e-8
	b.say("kernlab", tolerance)
	var ratios []float64
	for _, s := range b.sets {
		o, z := s.laplace(false), &kernel.Inputs{X: s.z}
		all := race(max(2, b.rounds/2),
			contender{"gpc-tune", here(func() answer {
				p := got(o.At(context.Background(), []float64{0, s.theta[1]}))
				proba := mat.NewDense(z.N(), 2, nil)
				p.PredictProba(proba, z, objective.MAP{})
				return answer{Out: mat.Col(nil, 1, proba)}
			})},
			contender{"kernlab", func() answer {
				return b.r.do("gausspr set=%s sigma=%.17g tolerance=%g", s.name, math.Exp(-2*s.theta[1])/2, tolerance)
			}})
		worst := agree("kernlab", all[1].first().Out, all[0].first().Out, 1e-5)
		b.say("kernlab, one set", s.name, s.theta[1], worst)
		b.times(all)
		ratios = append(ratios, all[0].nearest(all[1:]))
	}
	b.conclude("kernlab", span(ratios))
}
