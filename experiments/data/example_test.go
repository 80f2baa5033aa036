package data_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// This example turns a table of numbers and names into a matrix of inputs and numbered classes.
// Errors in a table are reported with their place.
func Example() {
	folder, err := os.MkdirTemp("", "data")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	write("flowers.csv", "length,width,colour,kind\n5.1,1.4,red,rose\n4.9,1.3,blue,iris\n6.2,,red,rose\n")
	d, err := data.Load(data.Spec{Train: "flowers.csv", Missing: "mean", Categorical: "one_hot"}, folder, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.ColumnNames, d.Classes, d.Labels)
	fmt.Println(d.X.RawRowView(0))

	write("broken.csv", "length,width,kind\n5.1,1.4,rose\n4.9,wide,iris\n6.2,2.2,rose\n")
	_, err = data.Load(data.Spec{Train: "broken.csv"}, folder, 1)
	var file *data.FileError
	if errors.As(err, &file) {
		fmt.Printf("line %d, byte %d: %s\n", file.Faults[0].Line, file.Faults[0].Column, file.Faults[0].Message)
	}
	// Output:
	// [length width colour=blue colour=red] [iris rose] [1 0 1]
	// [5.1 1.4 0 1]
	// line 3, byte 5: column "width": "wide" is not a number; correct it, leave the column out (drop: [width]), or if it holds categories set categorical: one_hot
}
