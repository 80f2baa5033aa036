package reports

import "github.com/gpc-tune/gpc-tune/internal/record"

// Plain data of a run folder, in manifest.json and in the journal, used for fields of a Report and
// arguments of Build.
type (
	// Manifest describes a run: its configurations and studies, the data, and the program.
	Manifest = record.Manifest
	// Line is a line of the journal: the result of one job.
	Line = record.Line
	// Program identifies the program that ran: version, Go version, architecture.
	Program = record.Build
	// ConfigurationRecord is one cell of the cross product that an experiment declares.
	ConfigurationRecord = record.Configuration
	// StudyRecord is one configuration on one training set.
	StudyRecord = record.Study
	// TrialRecord is a finished trial: the start of the optimisation, its end, and the value there.
	TrialRecord = record.Trial
	// PointRecord is a point of a trial with the value of the objective.
	PointRecord = record.Point
	// StepRecord is a step of an optimisation.
	StepRecord = record.Step
	// FitRecord is a finished assessment: hyperparameters, log evidence and predictions of
	// held-out cases.
	FitRecord = record.Fit
	// ContestRecord describes how the configurations of a contest compete.
	ContestRecord = record.Contest
	// Component is a kernel, a likelihood or another part of a model: its text in the file with its
	// meaning.
	Component = record.Component
	// Node is the value of a component in the file.
	Node = record.Node
	// Part is one key of a Node with its value, or one item of a list.
	Part = record.Part
	// Declared is an option of a component with its value.
	Declared = record.Declared
	// Label identifies a configuration: data set, preprocessing, and the parts of its model.
	Label = record.Label
	// Marginal is the posterior of one hyperparameter, from samples of Markov chains.
	Marginal = record.Marginal
	// Hyperparameter is a hyperparameter of a configuration: its names, scale and bounds.
	Hyperparameter = record.Hyperparameter
	// Inducing describes the inducing inputs of a fit.
	Inducing = record.Inducing
	// Tried is a number of inducing inputs that was tried, with its log evidence.
	Tried = record.Tried
	// Illustration is what an experiment without data shows, as columns of numbers.
	Illustration = record.Illustration
	// Gaussian is a normal distribution of one or two numbers, with its log evidence.
	Gaussian = record.Gaussian
	// Approximated is the approximation of a posterior by an inference method, with its iterates.
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
	// Costs are the costs of decisions, by true class and decision.
	Costs = record.Costs
	// IDs are the columns of the data that identify the cases.
	IDs = record.IDs
	// IDColumn is one of these columns.
	IDColumn = record.IDColumn
	// PublishedRecord has published figures for a configuration.
	PublishedRecord = record.Published
	// FigureRecord is one of these figures: its name in results, its value and its uncertainty.
	FigureRecord = record.Figure
	// Print configures figures for print: width and font in points, and titles.
	Print = record.Print
	// Spelled is a Number whose infinities and NaN are words in JSON.
	Spelled = record.Spelled
	// Vector is a list of numbers, Matrix a list of lists; long ones are packed in JSON.
	Vector = record.Vector
	Matrix = record.Matrix
)
