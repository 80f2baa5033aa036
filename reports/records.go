package reports

import "github.com/gpc-tune/gpc-tune/internal/record"

// The plain data that the folder of a run keeps, in manifest.json and in the journal. Fields of a
// Report and arguments of Build are of these types.
type (
	// Manifest is what a run is to do: its configurations and studies, the data, and the
	// program.
	Manifest = record.Manifest
	// Line is a line of the journal: what became of one job.
	Line = record.Line
	// Program says which program ran: version, version of Go, architecture.
	Program = record.Build
	// ConfigurationRecord is one cell of the cross product that an experiment declares.
	ConfigurationRecord = record.Configuration
	// StudyRecord is one configuration on one training set.
	StudyRecord = record.Study
	// TrialRecord is a finished trial: where optimisation started, where it ended, and the
	// value there.
	TrialRecord = record.Trial
	// PointRecord is a point of a trial, with the value of the objective there.
	PointRecord = record.Point
	// StepRecord is a step of an optimisation.
	StepRecord = record.Step
	// FitRecord is a finished assessment: hyperparameters, log evidence and predictions of
	// held-out cases.
	FitRecord = record.Fit
	// ContestRecord says how the configurations of a contest compete.
	ContestRecord = record.Contest
	// Component is a kernel, a likelihood or another part of a model: its text in the file,
	// and what that says.
	Component = record.Component
	// Node is the value of a component in the file.
	Node = record.Node
	// Part is one key of a Node with its value, or one item of a list.
	Part = record.Part
	// Declared is an option of a component with the value that it has.
	Declared = record.Declared
	// Label is what tells a configuration from others: data set, preprocessing, and the parts
	// of its model.
	Label = record.Label
	// Marginal is the posterior of one hyperparameter, by samples of a Markov chain.
	Marginal = record.Marginal
	// Hyperparameter is a hyperparameter of a configuration: its names, scale and bounds.
	Hyperparameter = record.Hyperparameter
	// Inducing says with which inducing inputs a configuration was fitted.
	Inducing = record.Inducing
	// Tried is a number of inducing inputs that was tried, with the log evidence that it gave.
	Tried = record.Tried
	// Illustration is what an experiment without data shows, as columns of numbers.
	Illustration = record.Illustration
	// Gaussian is a normal distribution of one or two numbers, with the log evidence that it gives.
	Gaussian = record.Gaussian
	// Approximated is what an inference method makes of a posterior, and how it came there.
	Approximated = record.Approximated
	// Column is a named list of numbers.
	Column = record.Column
	// Named is a number with a name.
	Named = record.Named
	// Surface has predictions on a lattice of one or two inputs.
	Surface = record.Surface
	// Curvature has standard errors and correlations of theta, by second derivatives.
	Curvature = record.Curvature
	// Moments are mean and variance of the training targets.
	Moments = record.Moments
	// Costs are what decisions cost, by true class and by the class decided for.
	Costs = record.Costs
	// IDs are the columns of the data that name the cases.
	IDs = record.IDs
	// IDColumn is one of these columns.
	IDColumn = record.IDColumn
	// PublishedRecord is what somebody else found for a configuration.
	PublishedRecord = record.Published
	// FigureRecord is one of these figures: its name in results, its value, how sure it is.
	FigureRecord = record.Figure
	// Spelled is a Number whose infinities and NaN are words in JSON.
	Spelled = record.Spelled
	// Vector is a list of numbers, Matrix a list of lists; JSON packs the long ones.
	Vector = record.Vector
	Matrix = record.Matrix
)
