package main

// source is a chapter of the page.
type source struct {
	name     string // Row.Source in the ledger; empty if no row names the source
	title    string
	exhibits []exhibit // ordered as in the source
}

// exhibit is a figure, a table or a passage of a source, with the pictures that reproduce it.
type exhibit struct {
	title    string   // name in the source
	places   []string // Row.Place of its rows in the ledger
	shows    string   // what the pictures show; without pictures, what the rows are about
	pictures []string // names of files, without .svg: the experiment, a hyphen, the figure
	also     []string // experiments that neither its pictures nor its rows name
	crossed  bool     // its settings are a row and a column of a table
}

// sources are the chapters of the page, in order.
var sources = []source{
	{"Rasmussen & Williams (2006), GPML chapter 3", "GPML chapter 3 (Rasmussen & Williams, 2006)", []exhibit{
		{title: "Figure 3.1", places: []string{"Fig 3.1"}, pictures: []string{"gpml_fig31-decision-0"},
			shows: "Logistic regression in the plane: the probability of class +1 rises along the weight vector."},
		{title: "Figure 3.2", places: []string{"Fig 3.2"}, pictures: []string{"gpml_fig32-prior-0"},
			shows: "A sample of a latent function, and what the logistic function makes of it."},
		{title: "Figure 3.3", places: []string{"Fig 3.3"}, pictures: []string{"gpml_fig33-likelihood-0"},
			shows: "The logarithms of the logistic and the probit likelihood, with their first two derivatives."},
		{title: "Figure 3.4", places: []string{"Fig 3.4"}, pictures: []string{"gpml_fig34-posterior-0"},
			shows: "One likelihood term times a Gaussian, with the approximations by Laplace's method and by EP."},
		{title: "Figure 3.5", places: []string{"3.7.1 Fig 3.5"}, pictures: []string{"gpml_fig35-decision-0"},
			shows: "Predictive probabilities over the unit square at three length scales, by Laplace's method."},
		{title: "Figure 3.6", places: []string{"3.7.2 Fig 3.6"}, pictures: []string{"gpml_fig36-decision-0"},
			also:  []string{"gpml_fig36_optimum"},
			shows: "Laplace's method against EP on a line: probabilities, and latent values with their bands."},
		{title: "Section 3.7.3", places: []string{"3.7.3", "(3.76)", "3.7.3 text"}, also: []string{"usps_3v5_points"},
			shows: "The digits 3 and 5: cases, entropy of the targets, linear kernel, support vector machine."},
		{title: "Figure 3.7", places: []string{"Fig 3.7", "Fig 3.7 caption"},
			pictures: []string{"usps_3v5_grid-grid-0", "usps_3v5_grid-latent-0"},
			shows: "3 against 5 by Laplace's method over length scale and amplitude: log evidence, test information, " +
				"errors, and a histogram of the latent means."},
		{title: "Figure 3.8", places: []string{"Fig 3.8", "Fig 3.8 caption", "Fig 3.8(d)"},
			pictures: []string{"usps_3v5_grid-grid-1", "usps_3v5_grid-latent-1"},
			shows:    "The same by EP."},
		{title: "Figure 3.9", places: []string{"Fig 3.9"}, also: []string{"usps_3v5_map"},
			pictures: []string{"usps_3v5_averaged-averaging-0", "usps_3v5_averaged-averaging-1"},
			shows:    "MAP and averaged predictions of the test cases, by Laplace's method and by EP."},
		{title: "Figure 3.10", places: []string{"Fig 3.10"},
			pictures: []string{"usps_3v5_comparators-curves-usps-3v5-train-test"},
			shows: "Errors against the fraction of rejected test cases, of the " +
				"Gaussian process and of other methods."},
		{title: "Figure 3.11", places: []string{"Fig 3.11"}, also: []string{"usps_10_full"},
			pictures: []string{"usps_10-curves-usps-resampled-train-test"},
			shows:    "All ten digits at once: log evidence, test information and errors."},
		{title: "Section 3.7.4", places: []string{"3.7.4"}, also: []string{"usps_svm_full"},
			pictures: []string{"usps_comparators-curves-usps-resampled-train-test"},
			shows: "All ten digits by probabilistic nearest neighbour, logistic " +
				"regression and support vector machine."},
		{title: "Section 3.8", places: []string{"3.8"},
			shows: "The log evidence by EP and by Laplace's method."},
		{title: "Figure 3.12", places: []string{"Fig 3.12"}, also: []string{"usps_3v5_sampled_full"},
			pictures: []string{"usps_3v5_sampled-grid-0", "usps_3v5_sampled-sampled-0"},
			shows: "Log evidence by annealed importance sampling, and that of EP " +
				"and of Laplace's method beside it."},
		{title: "Figure 3.13", places: []string{"Fig 3.13"},
			pictures: []string{"gpml_fig313-decision-0", "gpml_fig313-decision-1"},
			shows:    "Decision regions of the softmax of three classes."},
		{title: "Sections 3.4.2 and 3.4.3", places: []string{"3.4.2", "(3.26)"},
			shows: "Decisions by MAP and by averaging, and the eigenvalues of the matrix B."},
		{title: "Exercises 3.10", places: []string{"Ex 3.10.1", "Ex 3.10.2", "Ex 3.10.3", "Ex 3.10.4", "Ex 3.10.5",
			"Ex 3.10.6"}, pictures: []string{"gpml_softmax-softmax-0", "gpml_cavity-cavity-0",
			"gpml_well_explained-posterior-0"}, also: []string{"gpml_probit_step"},
			shows: "What the exercises ask to show, in numbers: the class that a " +
				"covariance decides, a cavity that its own site leaves alone, a case that its neighbours explain."},
	}},
	{"Csato et al. (2000)", "Csató, Fokoué, Opper, Schottky & Winther (2000)", []exhibit{
		{title: "Table 1", places: []string{"Table 1", "Table 1 caption"}, also: []string{"csato_table1"},
			shows: "Diabetes among the Pima: test errors and free energies of the " +
				"ensemble and of the naive mean field."},
		{title: "Figure 1", places: []string{"Fig. 1", "Fig. 1 right"},
			pictures: []string{"csato_figure1-traces-0", "csato_figure1-relevance-1"},
			shows:    "How the log evidence rises under gradient descent, and how relevant each input becomes."},
		{title: "Figure 2", places: []string{"Fig. 2"}, pictures: []string{"csato_figure2-option-seen"},
			shows: "Online learning of sonar and crabs: training and test errors against the cases seen."},
		{title: "Text", places: []string{"Text 6", "eq 11", "5"}, shows: "Data, iterations, and two formulas."},
	}},
	{"Garcia-Fernandez, Tronarp & Sarkka", "García-Fernández, Tronarp & Särkkä", []exhibit{
		{title: "Table I", places: []string{"Table I"}, crossed: true,
			also: []string{"garcia_fernandez_paper_full", "garcia_fernandez_folds", "garcia_fernandez_table1_full",
				"garcia_fernandez_negative",
				"garcia_fernandez_order"},
			shows: "Error rates of six data sets under three likelihoods and five methods, in ten folds."},
		{title: "Sections I, III and IV", places: []string{"I, III", "IV", "IV, last par."},
			pictures: []string{"garcia_fernandez_epsilon-option-epsilon"},
			shows: "Data, times, which methods go with the noisy threshold, and how " +
				"much its ε, which is not printed, " +
				"matters."},
		{title: "Supplement", places: []string{"Suppl."},
			pictures: []string{"garcia_fernandez_pair-posterior-0", "garcia_fernandez_pair-posterior-1"},
			shows:    "A posterior of two latent values on which EP fails."},
	}},
	{"lecture on Gaussian processes", "A lecture on Gaussian processes", []exhibit{
		{title: "Covariance functions", places: []string{"Covariance function", "Samples from GPs"},
			pictures: []string{"lecture_prior-prior-0"},
			shows:    "Samples from priors: a kernel of four terms, and the exponential kernel."},
		{title: "Draws of Gaussians", places: []string{"Visualizing draws"},
			pictures: []string{"lecture_draws-prior-0", "lecture_draws-prior-1", "lecture_draws-prior-2"},
			shows:    "Draws of Gaussians in 2, 6 and 25 dimensions."},
		{title: "Relevance of inputs", places: []string{"ARD"},
			pictures: []string{"lecture_surfaces-surface-0", "lecture_ard-relevance-0", "lecture_ard-traces-0"},
			shows: "Surfaces over two inputs of equal and of unequal relevance; and how the relevance of " +
				"three inputs is found."},
		{title: "Prediction", places: []string{"Prediction"}, pictures: []string{"lecture_sinusoid-decision-0"},
			shows: "Regression on a sinusoid, with bands of two standard deviations."},
		{title: "Classification", places: []string{"Classification", "Classification results", "Illustration"},
			pictures: []string{"lecture_squashed-prior-0", "lecture_boundary-decision-0", "lecture_targets-targets-0"},
			also:     []string{"lecture_surface"},
			shows:    "Samples squashed to probabilities, a boundary beside the best possible one, and targets drawn."},
	}},
	{"notes on EP and ADF", "Notes on EP and ADF", []exhibit{
		{title: "Order of the cases", places: []string{"ADF", "EP", "KL"},
			pictures: []string{"notes_order-posterior-0", "notes_moments-posterior-0", "notes_adf-option-order-seed"},
			shows:    "Assumed density filtering depends on the order of the cases, and EP does not."},
	}},
	{"", "More experiments", []exhibit{
		{title: "Crabs", pictures: []string{"crabs-curves-crabs-kfold"},
			shows: "Sex of crabs from five measurements: Laplace's method and EP, probit and logit."},
		{title: "Pima", pictures: []string{"pima_grid-grid-0", "pima_grid-grid-1"},
			shows: "Diabetes among the Pima, over length scale and amplitude: Laplace's method and EP."},
		{title: "Screening", pictures: []string{"screening-curves-breast-cancer-kfold"},
			shows: "Screening for breast cancer, where errors differ in what they cost."},
		{title: "Ground truth", also: []string{"ground_truth_crabs", "ground_truth_usps"},
			shows: "The log evidence of every approximation beside the sampled one, with its error bar."},
	}},
}
