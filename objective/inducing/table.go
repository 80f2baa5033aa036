package inducing

import "github.com/gpc-tune/gpc-tune/internal/registry"

// Table lists the methods; the first is the default.
var Table = registry.Table[Method]{
	registry.Of[Greedy, Method]("greedy",
		"the case of largest conditional variance given those before, again and again: pivoted Cholesky of K"),
	registry.Of[KMeans, Method]("kmeans",
		"centres of clusters: k-means++, then Lloyd's steps, in inputs divided by length scales"),
	registry.Of[Random, Method]("random", "cases drawn at random, no two with equal inputs"),
}
