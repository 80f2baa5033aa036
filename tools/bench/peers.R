# The R side of the comparison: kernlab's gausspr. Requests and answers are those of peers.py.
suppressMessages(library(kernlab))

sets <- list()
list_of <- function(v) paste0("[", paste(sprintf("%.17g", v), collapse = ","), "]")

info <- function(a) sprintf('{"kernlab":"%s","r":"%s"}', packageVersion("kernlab"), getRversion())

load <- function(a) {
  n <- as.integer(a$n); d <- as.integer(a$d); m <- as.integer(a$m)
  v <- readBin(a$path, "double", n * d + n + m * d)
  sets[[a$set]] <<- list(
    x = matrix(v[1:(n * d)], n, d, byrow = TRUE), y = v[n * d + 1:n],
    z = matrix(v[n * d + n + 1:(m * d)], m, d, byrow = TRUE))
  "{}"
}

# The mode of Laplace's method for the logistic likelihood under k(x, z) = exp(-sigma |x - z|^2), and p(y|E f) at Z.
gausspr_fit <- function(a) {
  s <- sets[[a$set]]
  start <- proc.time()
  # gausspr codes the first class as +1
  fit <- gausspr(s$x, factor(-s$y), scaled = FALSE, type = "classification", kernel = "rbfdot",
                 kpar = list(sigma = as.numeric(a$sigma)), tol = as.numeric(a$tolerance), fit = FALSE)
  f <- kernelMult(kernelf(fit), s$z, xmatrix(fit)[alphaindex(fit)[[1]], ], alpha(fit)[[1]])
  took <- proc.time() - start
  sprintf('{"cpu":%.6f,"wall":%.6f,"out":%s}', took[["user.self"]] + took[["sys.self"]], took[["elapsed"]],
          list_of(1 / (1 + exp(-f))))
}

ops <- list(info = info, load = load, gausspr = gausspr_fit)
input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1)) == 1) {
  words <- strsplit(line, " ")[[1]]
  pairs <- strsplit(words[-1], "=")
  a <- setNames(lapply(pairs, `[`, 2), sapply(pairs, `[`, 1))
  failed <- function(e) sprintf('{"error":"%s"}', gsub('"', "'", conditionMessage(e)))
  cat(tryCatch(ops[[words[1]]](a), error = failed), "\n", sep = "")
}
