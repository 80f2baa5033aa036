package cells

import (
	"math"
	"strings"
	"testing"
)

// A text has one value in each notation, or none.
func TestParseNumber(t *testing.T) {
	nan := math.NaN()
	for text, want := range map[string][3]float64{ // without a notation, with points, with commas
		"1":           {1, 1, 1},
		"-1.5":        {-1.5, -1.5, nan},
		"1,5":         {nan, nan, 1.5},
		"−0.037":      {-0.037, -0.037, nan},
		"−1,5":        {nan, nan, -1.5},
		"−1.234,5":    {nan, nan, -1234.5},
		"−5%":         {-0.05, -0.05, -0.05},
		"−$5":         {nan, -5, -5},
		"1e−3":        {0.001, 0.001, 0.001},
		"−−5":         {nan, nan, nan},
		"5−":          {nan, nan, nan},
		"−":           {nan, nan, nan},
		"1,234":       {nan, 1234, 1.234},
		"1.234":       {1.234, 1.234, 1234},
		"1,234.5":     {nan, 1234.5, nan},
		"1.234,5":     {nan, nan, 1234.5},
		"-12.345.678": {nan, nan, -12345678},
		"12,34,567":   {nan, nan, nan},
		"0,123":       {nan, nan, 0.123},
		"1 234":       {nan, 1234, 1234},
		"1'234.5":     {nan, 1234.5, nan},
		"1 234'567":   {nan, nan, nan},
		"12.5%":       {0.125, 0.125, nan},
		"12,5 %":      {nan, nan, 0.125},
		"7%":          {0.07, 0.07, 0.07},
		"1e3":         {1000, 1000, 1000},
		"1e3%":        {nan, nan, nan},
		"1,5e3":       {nan, nan, 1500},
		"":            {nan, nan, nan},
		"$1,234.50":   {nan, 1234.5, nan},
		"-$5":         {nan, -5, -5},
		"$-5":         {nan, -5, -5},
		"12,50 €":     {nan, nan, 12.5},
		"€":           {nan, nan, nan},
		"EUR 1.234,5": {nan, nan, 1234.5},
		"-USD 5":      {nan, -5, -5},
		"USD12":       {nan, 12, 12},
		"34CHF":       {nan, 34, 34},
		"12 CHF":      {nan, 12, 12},
		"USD":         {nan, nan, nan},
		"USD 5 EUR":   {nan, nan, nan},
		"(1,234.50)":  {nan, -1234.5, nan},
		"($5)":        {nan, -5, -5},
		"$(5)":        {nan, -5, -5},
		"(-5)":        {nan, nan, nan},
		"-(5)":        {nan, nan, nan},
		"(5":          {nan, nan, nan},
		"()":          {nan, nan, nan},
		"$5$":         {nan, nan, nan},
		"5 kg":        {nan, nan, nan},
		"%":           {nan, nan, nan},
		",5":          {nan, nan, 0.5},
		"+-1 234":     {nan, nan, nan},
		"0x1p3":       {nan, nan, nan},
		"1_2":         {nan, nan, nan},
		"1_234.5":     {nan, nan, nan},
		"inf":         {nan, nan, nan},
		"-Infinity":   {nan, nan, nan},
		"nan":         {nan, nan, nan},
		"0b11":        {nan, nan, nan},
		"010":         {10, 10, 10},
		"007.50":      {7.5, 7.5, nan},
		"1e101":       {nan, nan, nan},
	} {
		for k, decimal := range []string{"", "point", "comma"} {
			got, ok := ParseNumber(text, decimal)
			if ok != !math.IsNaN(want[k]) || ok && got != want[k] {
				t.Errorf("%q, %q: %v, %v, want %v", text, decimal, got, ok, want[k])
			}
		}
	}
}

// No text of digits and signs panics, and a number without a notation has the same value with
// points.
func FuzzParseNumber(f *testing.F) {
	for _, text := range []string{"1.234,5", "-1 234", "12%", "1'2", "’", "1\u00a0234", "+", "1,,2", "-%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, plain := ParseNumber(text, "")
		w, point := ParseNumber(text, "point")
		if plain && strings.ContainsAny(text, "_xXnN") {
			t.Errorf("%q: %v", text, v)
		}
		if plain && (!point || v != w) {
			t.Errorf("%q: %v and %v, %v", text, v, w, point)
		}
		if c, comma := ParseNumber(text, "comma"); comma && !(math.Abs(c) <= MaxMagnitude) {
			t.Errorf("%q: %v", text, c)
		}
	})
}
