package comparator

import "github.com/gpc-tune/gpc-tune/internal/registry"

// Table lists the comparators by their names in an experiment file.
var Table = registry.Table[Comparator]{
	registry.Of[BaseRate, Comparator]("base_rate", "the class frequencies of the training set, for every case"),
	registry.Of[P1NN, Comparator]("p1nn",
		"probabilistic one-nearest-neighbour, GPML 3.7: the class of the nearest training case "+
			"with a fitted probability").At(3),
	registry.Of[LeastSquares, Comparator]("least_squares",
		"regression on -1 and +1 with the model's kernel, hyperparameters and probabilities "+
			"from leave-one-out outputs, GPML 6.5.1", LeastSquares{Restarts: 1}).At(2),
	registry.Of[SVM, Comparator]("svm",
		"support vector machine with the model's kernel, cost and length scale by cross-validation, GPML 6.4",
		SVM{Costs: SVM{}.costs(), Folds: usualFolds, Tolerance: SVM{}.tolerance()}).At(2),
	registry.Of[LogisticRegression, Comparator]("logistic_regression",
		"logistic or multiple logistic regression with a Gaussian prior on the weights, Laplace's method, "+
			"amplitude by its evidence").At(3),
}
