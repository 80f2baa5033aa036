package sets

import (
	"embed"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

//go:embed *.csv *.csv.gz
var files embed.FS

const (
	uci    = "CC BY 4.0 (UCI Machine Learning Repository)"
	mass   = "none stated for the data; distributed with the R package MASS (GPL-2 | GPL-3)"
	mclust = uci + "; this copy distributed with the R package mclust (GPL >= 2)"

	pimaCitation = "J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler and R. S. Johannes, Using the ADAP " +
		"learning algorithm to forecast the onset of diabetes mellitus, Proc. Symposium on Computer Applications in " +
		"Medical Care, 1988; this split: B. D. Ripley, Pattern Recognition and Neural Networks, 1996"
	crabsCitation = "N. A. Campbell and R. J. Mahon, A multivariate study of variation in two species of rock crab " +
		"of genus Leptograpsus, Australian Journal of Zoology 22, 1974"
	breastCitation = "W. H. Wolberg and O. L. Mangasarian, Multisurface method of pattern separation for medical " +
		"diagnosis applied to breast cytology, PNAS 87, 1990"
	glassCitation = "I. W. Evett and E. J. Spiehler, Rule induction in forensic science, 1987; B. German, Home " +
		"Office Forensic Science Service"
	ionoCitation = "V. G. Sigillito, S. P. Wing, L. V. Hutton and K. B. Baker, Classification of radar returns from " +
		"the ionosphere using neural networks, Johns Hopkins APL Technical Digest 10, 1989"
	thyroidCitation = "D. Coomans, I. Broeckaert, M. Jonckheer and D. L. Massart, Comparison of multivariate " +
		"discrimination techniques for clinical data, Methods of Information in Medicine 22, 1983"
	housingCitation = "D. Harrison and D. L. Rubinfeld, Hedonic housing prices and the demand for clean air, " +
		"Journal of Environmental Economics and Management 5, 1978"
	sonarCitation = "R. P. Gorman and T. J. Sejnowski, Analysis of hidden units in a layered network trained to " +
		"classify sonar targets, Neural Networks 1, 1988"
	ripleyCitation = "B. D. Ripley, Pattern Recognition and Neural Networks, 1996"
	irisCitation   = "R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7, 1936"
	wineCitation   = "M. Forina et al., PARVUS: an extendable package for data exploration, classification and " +
		"correlation, 1991"
	digitsCitation = "E. Alpaydin and C. Kaynak, Cascading classifiers, Kybernetika 34, 1998"
)

// Table lists the bundled sets. A new set is a file in this folder, or a file toy_NAME.go that
// generates it, and an entry here.
var Table = []Set{
	{Name: "crabs", Train: "crabs.csv", Features: 6, Rows: 200, Classes: []Count{{"F", 100}, {"M", 100}},
		Doc:      "sex of rock crabs from species (0 blue, 1 orange) and 5 measurements; sorted by species and sex",
		Citation: crabsCitation, Licence: mass},
	{Name: "pima", Train: "pima_train.csv", Test: "pima_test.csv", Features: 7, Rows: 200, TestRows: 332,
		Classes: []Count{{"No", 132}, {"Yes", 68}}, TestClasses: []Count{{"No", 223}, {"Yes", 109}},
		Doc:      "diabetes in women of Pima heritage, complete cases, with a test set",
		Citation: pimaCitation, Licence: mass},
	{Name: "breast_cancer", Train: "breast_cancer.csv", Features: 9, Rows: 699,
		Classes:  []Count{{"benign", 458}, {"malignant", 241}},
		Doc:      "Wisconsin breast cancer (original), 9 cytological grades; 16 values of V6 (bare nuclei) are missing",
		Citation: breastCitation, Licence: uci},
	{Name: "breast_cancer_complete", Train: "breast_cancer_complete.csv", Features: 9, Rows: 683,
		Classes:  []Count{{"benign", 444}, {"malignant", 239}},
		Doc:      "breast_cancer without the 16 cases that have a missing value",
		Citation: breastCitation, Licence: uci},
	{Name: "glass", Train: "glass.csv", Features: 9, Rows: 214,
		Classes:  []Count{{"Con", 13}, {"Head", 29}, {"Tabl", 9}, {"Veh", 17}, {"WinF", 70}, {"WinNF", 76}},
		Doc:      "six types of glass from refractive index and 8 oxides; sorted by class",
		Citation: glassCitation, Licence: uci},
	{Name: "glass_binary", Train: "glass_binary.csv", Features: 9, Rows: 214,
		Classes:  []Count{{"nonwindow", 51}, {"window", 163}},
		Doc:      "glass in two classes: window (WinF, WinNF, Veh) or not",
		Citation: glassCitation, Licence: uci},
	{Name: "ionosphere", Train: "ionosphere.csv", Features: 33, Rows: 351,
		Classes:  []Count{{"bad", 126}, {"good", 225}},
		Doc:      "radar returns from the ionosphere, good or bad; the constant second input left out",
		Citation: ionoCitation, Licence: uci},
	{Name: "thyroid", Train: "thyroid.csv", Features: 5, Rows: 215,
		Classes:  []Count{{"Hyper", 35}, {"Hypo", 30}, {"Normal", 150}},
		Doc:      "thyroid function from 5 laboratory tests; sorted by class",
		Citation: thyroidCitation, Licence: mclust},
	{Name: "thyroid_binary", Train: "thyroid_binary.csv", Features: 5, Rows: 215,
		Classes:  []Count{{"Abnormal", 65}, {"Normal", 150}},
		Doc:      "thyroid in two classes: Normal or Abnormal (Hyper, Hypo)",
		Citation: thyroidCitation, Licence: mclust},
	{Name: "housing", Train: "housing.csv", Features: 13, Rows: 506,
		Doc: "median value of homes in the suburbs of Boston (thousand dollars), numeric; the input black is widely " +
			"held to be ethically unsound",
		Citation: housingCitation, Licence: mass},
	{Name: "housing_binary", Train: "housing_binary.csv", Features: 13, Rows: 506,
		Classes:  []Count{{"high", 250}, {"low", 256}},
		Doc:      "housing in two classes: high (above the median, 21.2) or low",
		Citation: housingCitation, Licence: mass},
	{Name: "sonar", Train: "sonar.csv", Features: 60, Rows: 208, Classes: []Count{{"M", 111}, {"R", 97}},
		Doc:      "sonar returns from mines (M) and rocks (R); sorted by class",
		Citation: sonarCitation, Licence: uci},
	{Name: "ripley", Train: "ripley_train.csv", Test: "ripley_test.csv", Features: 2, Rows: 250, TestRows: 1000,
		Classes: []Count{{"0", 125}, {"1", 125}}, TestClasses: []Count{{"0", 500}, {"1", 500}},
		Doc:      "synthetic: two mixtures of two Gaussians in the plane, with a test set; sorted by class",
		Citation: ripleyCitation, Licence: mass},
	{Name: "iris", Train: "iris.csv", Features: 4, Rows: 150,
		Classes:  []Count{{"setosa", 50}, {"versicolor", 50}, {"virginica", 50}},
		Doc:      "three species of iris from 4 measurements; sorted by class",
		Citation: irisCitation, Licence: uci},
	{Name: "wine", Train: "wine.csv", Features: 13, Rows: 178,
		Classes:  []Count{{"class_0", 59}, {"class_1", 71}, {"class_2", 48}},
		Doc:      "three cultivars of wine from 13 chemical measurements; sorted by class",
		Citation: wineCitation, Licence: uci},
	{Name: "digits", Train: "digits.csv.gz", Features: 64, Rows: 1797,
		Classes: []Count{
			{"0", 178}, {"1", 182}, {"2", 177}, {"3", 183}, {"4", 181}, {"5", 182},
			{"6", 181}, {"7", 179}, {"8", 174}, {"9", 180},
		},
		Doc:      "handwritten digits as images of 8 by 8 pixels, values 0 to 16",
		Citation: digitsCitation, Licence: uci},
	gpmlFig31, gpmlFig35, gpmlFig36, gpmlFig313, mixture, sinusoid, ardExample,
}

// Lookup finds a bundled set by name. For an unknown name the error suggests the nearest one and
// lists all.
func Lookup(name string) (Set, error) {
	return registry.Find("dataset", name, Table, func(s Set) string { return s.Name })
}

// File is the file of the training or of the test cases, with its name. A set without test cases
// uses the training cases for both.
func (s Set) File(test bool) (name string, text []byte, err error) {
	test = test && s.TestRows > 0
	file, name := s.Train, s.Name
	if test {
		file, name = s.Test, s.Name+" (test)"
	}
	if s.toy != nil {
		return name, []byte(s.toy.file(test)), nil
	}
	text, err = files.ReadFile(file)
	return file, text, err
}
