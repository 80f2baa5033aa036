package data

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// File is a data file with the name that experiments use for it.
type File struct {
	Name string
	Text []byte
}

// The USPS digits are 16 × 16 images; numbers of cases in zip.train and zip.test.
const (
	uspsSide  = 16
	uspsTrain = 7291
	uspsTest  = 2007
)

// uspsSums are the SHA-256 of the files that RepartitionUSPS makes.
var uspsSums = map[string]string{
	"usps_resampled_train.csv": "adbb89d4e2a3e7eaab62a5b9ef25ee90aec9522a722ba8b84d1956c163614844",
	"usps_resampled_test.csv":  "554102ba21fee47584da5bfb7764a0132b8092aa7bb7091967f819927ac6a122",
	"usps_3v5_train.csv":       "44327ff84c38785b078849cc34b36bfcea2883b91d8295ee8995f257fff8f575",
	"usps_3v5_test.csv":        "1457c4098ae6e25e49513aa1e2a80898f0f3c694cd5560274a0be60874b91dca",
}

// RepartitionUSPS rebuilds the USPS digits of GPML 3.7 from zip.train and zip.test of The Elements
// of Statistical Learning: the 4649 training and 4649 test cases of ten digits, and the threes and
// fives among them (767 and 773), as CSV with 7 decimals and the label last. The book's file is the
// public one in another order and slightly smoothed:
//
//   - p + 1, 0 outside the image, is convolved with a Gaussian of standard deviation 0.75 pixels,
//     cut to 7 × 7 and normalised to sum 1; then 1 is taken away again;
//   - the 7291 and then the 2007 cases are put in the increasing order of 9298 draws of
//     x ← 16807 x mod (2³¹-1), the first from x = 1769472; the first half of it is for training.
//
// It is an error if a resulting file does not have its known checksum.
func RepartitionUSPS(train, test string) ([]File, error) {
	d, err := Load(Spec{Train: train, Test: test}, "", 0)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		path  string
		d     *Data
		cases int
	}{{train, d, uspsTrain}, {test, d.Test, uspsTest}} {
		if n, columns := part.d.X.Dims(); n != part.cases || columns != uspsSide*uspsSide || len(d.Classes) != 10 {
			return nil, (&FileError{Path: part.path}).Refuse("has %d cases of %d inputs in %d classes, and "+
				"should have %d of %d in 10; give zip.train and then zip.test, from the data page of The Elements of "+
				"Statistical Learning", n, columns, len(d.Classes), part.cases, uspsSide*uspsSide)
		}
	}
	files := uspsFiles(d)
	for _, f := range files {
		if sum := sha256.Sum256(f.Text); hex.EncodeToString(sum[:]) != uspsSums[f.Name] {
			return nil, (&FileError{Path: train}).Refuse("and %s do not give the digits of the book (%s "+
				"differs); download both again from the data page of The Elements of Statistical "+
				"Learning", test, f.Name)
		}
	}
	return files, nil
}

// uspsFiles returns the files for the digits d, whose training and test cases are one list.
func uspsFiles(d *Data) []File {
	images := make([][]float64, 0, len(d.Rows)+len(d.Test.Rows))
	var labels []string
	for _, part := range []*Data{d, d.Test} {
		for i, k := range part.Labels {
			images = append(images, part.X.RawRowView(i))
			labels = append(labels, d.Classes[k])
		}
	}
	var header []string
	for i := range uspsSide * uspsSide {
		header = append(header, fmt.Sprintf("p%d_%d", i/uspsSide, i%uspsSide))
	}
	text := func(cases []int) []byte {
		var b bytes.Buffer
		b.WriteString(strings.Join(header, ",") + ",label\n")
		for _, i := range cases {
			for _, v := range smoothed(images[i]) {
				b.WriteString(strconv.FormatFloat(math.Round(v*1e7)/1e7, 'g', -1, 64) + ",")
			}
			b.WriteString(labels[i] + "\n")
		}
		return b.Bytes()
	}
	order := uspsOrder(len(images))
	binary := func(cases []int) []int {
		return slices.DeleteFunc(slices.Clone(cases), func(i int) bool { return labels[i] != "3" && labels[i] != "5" })
	}
	first, second := order[:len(order)/2], order[len(order)/2:]
	return []File{
		{"usps_resampled_train.csv", text(first)}, {"usps_resampled_test.csv", text(second)},
		{"usps_3v5_train.csv", text(binary(first))}, {"usps_3v5_test.csv", text(binary(second))},
	}
}

// uspsOrder returns the book's order of n cases, as indices into the public order.
func uspsOrder(n int) []int {
	draws, order := make([]uint64, n), make([]int, n)
	x := uint64(1769472)
	for i := range draws {
		x = 16807 * x % (1<<31 - 1)
		draws[i], order[i] = x, i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(draws[a], draws[b]) })
	return order
}

// smoothed returns an image after the convolution.
func smoothed(image []float64) []float64 {
	const reach, sd = 3, 0.75
	var kernel [2*reach + 1]float64
	sum := 0.0
	for k := range kernel {
		z := float64(k-reach) / sd
		kernel[k] = math.Exp(-z * z / 2)
		sum += kernel[k]
	}
	pass := func(in []float64, step int) []float64 {
		out := make([]float64, len(in))
		for i := range in {
			at := i / step % uspsSide
			for k, w := range kernel {
				if j := at + k - reach; j >= 0 && j < uspsSide {
					out[i] += w / sum * in[i+(k-reach)*step]
				}
			}
		}
		return out
	}
	raised := make([]float64, len(image))
	for i, p := range image {
		raised[i] = p + 1
	}
	out := pass(pass(raised, 1), uspsSide)
	for i := range out {
		out[i]--
	}
	return out
}
