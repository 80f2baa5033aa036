package kernel

import "github.com/gpc-tune/gpc-tune/internal/registry"

// Table lists the kernels, the combinations of kernels last. σ is the amplitude, l the length
// scale, r = |x - x'|.
var Table = registry.Table[Kernel]{
	registry.Of[SE, Kernel]("se", "squared exponential: σ² exp(-r²/(2l²)); ard"),
	registry.Of[Matern12, Kernel]("matern12",
		"Matérn of order 1/2 (exponential, Ornstein-Uhlenbeck): σ² exp(-r/l); ard"),
	registry.Of[Matern32, Kernel]("matern32", "Matérn of order 3/2: σ² (1 + a) exp(-a), a = √3 r/l; ard"),
	registry.Of[Matern52, Kernel]("matern52", "Matérn of order 5/2: σ² (1 + a + a²/3) exp(-a), a = √5 r/l; ard"),
	registry.Of[RationalQuadratic, Kernel]("rational_quadratic", "σ² (1 + r²/(2αl²))^-α, α = alpha; ard"),
	registry.Of[Linear, Kernel]("linear", "σ² (b + x·x'), b = 1, or 0 with bias: false; ard"),
	registry.Of[Polynomial, Kernel]("polynomial", "σ² (1 + x·x'/d)^degree for d input columns, degree 2 by default"),
	registry.Of[Constant, Kernel]("constant", "σ²"),
	registry.Of[Noise, Kernel]("noise", "white noise: σ² between a case and itself, else 0"),
	registry.Of[Periodic, Kernel]("periodic",
		"σ² exp(-2 Σ sin²(π(x - x')/p)/l²) summed over columns, p = period; ard"),
	registry.Of[NeuralNetwork, Kernel]("neural_network",
		"arcsine kernel of an infinite network of error functions, weights of deviation 1/l, "+
			"biases of bias_amplitude; ard"),
	registry.Of[Hamming, Kernel]("hamming",
		"for categories: σ² exp(-h/(2l²)), h the number of columns in which two cases differ; ard"),
	registry.Composed[Sum, Kernel]("sum", "sum: [kernel, …]; k = Σ k_j", Sum{{"se", SE{}}, {"noise", Noise{}}}),
	registry.Composed[Product, Kernel]("product", "product: [kernel, …]; k = Π k_j",
		Product{{"se", SE{}}, {"linear", Linear{}}}),
	registry.Composed[Active, Kernel]("active",
		"active: {dims: [1, 3], kernel: …}; a kernel on some of the columns, counted from 1",
		Active{Dims: []int{1}, Named: Named{"se", SE{}}}),
	registry.Composed[Additive, Kernel]("additive",
		"additive: {kernel: …}; the sum of a kernel on every input alone, each with hyperparameters of its own",
		Additive{Named{"se", SE{}}}),
	registry.Composed[Choice, Kernel]("choice",
		"choice: [kernel, …]; one of them, and which one is tuned too: by restarts in turn, or without gradients",
		Choice{{"se", SE{}}, {"matern32", Matern32{}}}),
	registry.Composed[PerClass, Kernel]("per_class",
		"per_class: kernel; outermost: every class has the kernel with hyperparameters of its own", PerClass{SE{}}),
}

// Register adds a kernel of another program to Table, and so to the files of that program's
// experiments: a file's options are the fields of type K with yaml tags, and defaults has their
// defaults. If defaults is a kernel from FromFunc, its settings are the options. The version, from
// 1, is part of the keys of results; increase it whenever results change. Call Register at the
// start of a program: it is not safe for concurrent use, and panics if the name is in use.
func Register[K Kernel](name, doc string, version int, defaults ...K) {
	registry.Register[K, Kernel](&Table, "kernel", name, doc, version, defaults...)
}
