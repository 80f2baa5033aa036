package inducing

import "github.com/gpc-tune/gpc-tune/internal/registry"

// Table lists the methods; the first is the default.
var Table = registry.Table[Method]{
	registry.Of[Greedy, Method]("greedy",
		"repeatedly the case of largest variance given those already selected: pivoted Cholesky decomposition of K"),
	registry.Of[KMeans, Method]("kmeans",
		"cluster centres: k-means++, then Lloyd's algorithm, on inputs divided by length scales"),
	registry.Of[Random, Method]("random", "cases drawn at random, no two with equal inputs"),
}
