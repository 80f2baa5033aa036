"""The Python side of the comparison: scikit-learn, GPBoost, LAPACK through scipy, and expectation propagation in numpy.

It reads one request a line from standard input, "op key=value …", and answers each with one line of JSON: the result,
and the processor and wall-clock seconds that it took. Loading data is not timed.
"""
import contextlib
import json
import sys
import time

import numpy as np
import scipy
import sklearn
import threadpoolctl
from scipy.linalg import blas, cho_solve, cholesky, lapack, solve_triangular
from scipy.special import log_ndtr
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

try:
    import gpboost
    NO_GPBOOST = ""
except ImportError as e:  # the page says that it is missing
    NO_GPBOOST = str(e)

SETS = {}
MATRICES = {}
MODELS = {}


def timed(f):
    """f() with the seconds it took, and the growth of the resident set in bytes at its peak."""
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # the peak starts anew
    before = resident("VmRSS")
    cpu, wall = time.process_time(), time.perf_counter()
    out = f()
    out["cpu"], out["wall"] = time.process_time() - cpu, time.perf_counter() - wall
    out["bytes"] = resident("VmHWM") - before
    return out


def resident(what):
    for line in open("/proc/self/status"):
        if line.startswith(what + ":"):
            return 1024 * int(line.split()[1])


def info():
    (lib,) = [p for p in threadpoolctl.threadpool_info() if p["internal_api"] == "openblas"]
    return {"version": lib["version"], "core": lib["architecture"], "numpy": np.__version__, "scipy": scipy.__version__,
            "sklearn": sklearn.__version__, "python": sys.version.split()[0],
            "gpboost": "" if NO_GPBOOST else gpboost.__version__, "nogpboost": NO_GPBOOST}


def load(set, path, n, d, m):
    """X (n×d), y (±1) and Z (m×d), little-endian doubles in one file."""
    n, d, m = int(n), int(d), int(m)
    v = np.fromfile(path)
    SETS[set] = v[:n * d].reshape(n, d), v[n * d:n * d + n], v[n * d + n:].reshape(m, d)
    return {}


def matrices(path, n):
    """General A and B and positive definite S for level3, in Fortran's order."""
    n = int(n)
    a, b, s = np.fromfile(path).reshape(3, n, n)
    MATRICES["a"], MATRICES["b"], MATRICES["s"] = (np.asfortranarray(x) for x in (a, b, s))
    MATRICES["l"] = lapack.dpotrf(MATRICES["s"], lower=1)[0]
    MATRICES["c"] = np.zeros((n, n), order="F")
    return {}


def level3(op, times):
    """One operation a number of times, on operands prepared anew, and the trace and the norm of what it leaves."""
    a, b, s, l, c = (MATRICES[k] for k in "absl" + "c")
    source = {"potrf": s, "potri": l, "trsm": a}.get(op)
    do = {
        "gemm": lambda: blas.dgemm(1.0, a, b, c=c, overwrite_c=1),
        "syrk": lambda: blas.dsyrk(1.0, a, c=c, lower=1, overwrite_c=1),
        "potrf": lambda: lapack.dpotrf(c, lower=1, clean=0, overwrite_a=1),
        "potri": lambda: lapack.dpotri(c, lower=1, overwrite_c=1),
        "trsm": lambda: blas.dtrsm(1.0, l, c, lower=1, overwrite_b=1),
    }[op]
    cpu, wall = 0.0, 0.0
    for _ in range(int(times)):
        if source is not None:
            c[...] = source
        cpu, wall = cpu - time.process_time(), wall - time.perf_counter()
        do()
        cpu, wall = cpu + time.process_time(), wall + time.perf_counter()
    low = c if op in ("gemm", "trsm") else np.tril(c)
    return {"cpu": cpu / int(times), "wall": wall / int(times), "out": [float(np.trace(c)), float(np.linalg.norm(low))]}


def model(theta, bounds="fixed"):
    """amplitude² · RBF with theta = [ln amplitude², ln l …], scikit-learn's order and scale."""
    theta = np.exp(numbers(theta))
    length = theta[1:] if len(theta) > 2 else theta[1]
    return ConstantKernel(theta[0], bounds) * RBF(length, bounds)


def numbers(text):
    return np.array([float(v) for v in text.split(",")])


def gradient(set, theta, ard):
    """The log evidence and its gradient at theta, from a cold start."""
    x, y, _ = SETS[set]
    if (set, ard) not in MODELS:
        gpc = GaussianProcessClassifier(model(theta, (1e-9, 1e12)), optimizer=None, copy_X_train=False)
        MODELS[set, ard] = gpc.fit(x, y).base_estimator_
    gpc = MODELS[set, ard]

    def f():
        value, slope = gpc.log_marginal_likelihood(numbers(theta), eval_gradient=True, clone_kernel=False)
        return {"value": value, "out": list(slope)}
    return timed(f)


def tune(set, theta, lo, hi):
    """scikit-learn's fit with its own optimiser, from theta within [lo, hi], the same for every length scale."""
    x, y, _ = SETS[set]
    start, lo, hi = (np.exp(numbers(v)) for v in (theta, lo, hi))

    def f():
        kernel = ConstantKernel(start[0], (lo[0], hi[0])) * RBF(start[1], (lo[1], hi[1]))
        gpc = GaussianProcessClassifier(kernel).fit(x, y)
        return {"value": gpc.log_marginal_likelihood_value_, "out": list(gpc.kernel_.theta)}
    return timed(f)


def tune_gpboost(set, theta, lo, hi):
    """GPBoost's fit with its own optimiser, from theta; it takes no bounds.

    Its covariance is variance · exp(-d²/range²), so range² = 2 length².
    """
    x, y, _ = SETS[set]
    variance, length = np.exp(numbers(theta))

    def f():
        gp = gpboost.GPModel(likelihood="bernoulli_logit", gp_coords=x, cov_function="gaussian", gp_approx="none",
                             matrix_inversion_method="cholesky")
        gp.fit(y=(y + 1) / 2, params={"init_cov_pars": np.array([variance, np.sqrt(2) * length])})
        found = np.log(np.ravel(gp.get_cov_pars(format_pandas=False)))
        return {"value": -gp.get_current_neg_log_likelihood(), "out": [found[0], found[1] - np.log(2) / 2]}
    with contextlib.redirect_stdout(sys.stderr):  # its warnings
        return timed(f)


def fitc_gpboost(set, points, answers, workers):
    """GPBoost's fit with inducing inputs from σ = 1, l = 1, and the log loss on the test cases.

    Their labels are in a file.
    """
    x, y, z = SETS[set]
    truth = np.fromfile(answers)

    def f():
        gp = gpboost.GPModel(likelihood="bernoulli_logit", gp_coords=x, cov_function="gaussian", gp_approx="fitc",
                             num_ind_points=int(points), matrix_inversion_method="cholesky",
                             num_parallel_threads=int(workers))
        gp.fit(y=(y + 1) / 2, params={"init_cov_pars": np.array([1, np.sqrt(2)])})
        found = np.log(np.ravel(gp.get_cov_pars(format_pandas=False)))
        MODELS["fitc"] = gp
        return {"value": -gp.get_current_neg_log_likelihood(), "out": [0, found[0] / 2, found[1] - np.log(2) / 2]}
    with contextlib.redirect_stdout(sys.stderr):  # its warnings
        answer = timed(f)
        p = np.ravel(MODELS.pop("fitc").predict(gp_coords_pred=z, predict_response=True)["mu"])
    answer["out"][0] = -np.mean(np.log(np.where(truth == 1, p, 1 - p)))
    return answer


def laplace(set, theta):
    """fit and predict_proba at fixed hyperparameters."""
    x, y, z = SETS[set]

    def f():
        gpc = GaussianProcessClassifier(model(theta), optimizer=None, copy_X_train=False).fit(x, y)
        return {"value": gpc.log_marginal_likelihood_value_, "out": list(gpc.predict_proba(z)[:, 1])}
    return timed(f)


def kernel(x, z, theta):
    d = scipy.spatial.distance.cdist(x, z, "sqeuclidean")
    d *= -0.5 * np.exp(-2 * theta[1])
    np.exp(d, out=d)
    d *= np.exp(theta[0])
    return d


def moments(y, mu, v, tau, nu):
    """The sites that match the tilted moments of probit, GPML (3.58)-(3.59), and log Z."""
    t = 1 / v - tau
    cavity, m = 1 / t, (mu / v - nu) / t
    z = y * m / np.sqrt(1 + cavity)
    log_z = log_ndtr(z)
    r = np.exp(-z * z / 2 - log_z) / np.sqrt(2 * np.pi)
    mean = m + y * cavity * r / np.sqrt(1 + cavity)
    variance = cavity - cavity ** 2 * r / (1 + cavity) * (z + r)
    new = np.maximum(1 / variance - t, 0)
    return new, mean / variance - m * t, log_z, cavity, m


def recompute(k, tau, nu):
    """GPML (3.53), (3.68): L of B, v = L⁻¹ S^½ K, μ and the marginal variances."""
    root = np.sqrt(tau)
    b = k * root
    b *= root[:, None]
    b.flat[::len(k) + 1] += 1
    l = cholesky(b, lower=True, overwrite_a=True, check_finite=False)
    v = solve_triangular(l, root[:, None] * k, lower=True, overwrite_b=True, check_finite=False)
    mu = k @ nu - v.T @ (v @ nu)
    return l, v, mu, np.diag(k) - np.einsum("ij,ij->j", v, v)


def evidence(l, tau, nu, mu, sigma, y):
    """GPML (3.65), with the Gaussian part written as in (3.73)-(3.74)."""
    _, _, log_z, cavity, m = moments(y, mu, sigma, tau, nu)
    t = 1 / cavity
    return (np.sum(log_z) + 0.5 * np.sum(np.log1p(tau * cavity)) - np.sum(np.log(np.diag(l)))
            + 0.5 * np.sum(nu * (mu - nu / (t + tau))) + 0.5 * np.sum(m * t / (t + tau) * (tau * m - 2 * nu)))


def ep_sequential(set, theta, tolerance):
    """GPML Algorithm 3.5 as printed: every site a rank-1 update of Σ and μ = Σν; recomputed after each sweep."""
    x, y, _ = SETS[set]
    theta, tolerance = numbers(theta), float(tolerance)

    def f():
        k = kernel(x, x, theta)
        n = len(k)
        tau, nu, mu, sweeps = np.zeros(n), np.zeros(n), np.zeros(n), 0
        sigma = np.asfortranarray(k)  # its lower triangle
        while True:
            worst = 0.0
            for i in range(n):
                s = np.concatenate((sigma[i, :i], sigma[i:, i]))
                new, nu_new, _, _, _ = moments(y[i], mu[i], s[i], tau[i], nu[i])
                change = new - tau[i]
                worst = max(worst, abs(change) * s[i], abs(nu_new - nu[i]) * np.sqrt(s[i]))
                tau[i], nu[i] = new, nu_new
                sigma = blas.dsyr(-change / (1 + change * s[i]), s, lower=1, a=sigma, overwrite_a=1)
                mu = blas.dsymv(1.0, sigma, nu, lower=1)
            sweeps += 1
            l, v, mu, variance = recompute(k, tau, nu)
            if worst <= tolerance or sweeps == 1000:
                return {"value": evidence(l, tau, nu, mu, variance, y), "evaluations": sweeps, "out": []}
            sigma = np.asfortranarray(k - v.T @ v)
    return timed(f)


def ep_parallel(set, theta, tolerance):
    """All sites at once on the same marginals, one factorisation a time.

    It returns the predictive probabilities too, GPML (3.60)-(3.63).
    """
    x, y, z = SETS[set]
    theta, tolerance = numbers(theta), float(tolerance)

    def f():
        k = kernel(x, x, theta)
        n = len(k)
        tau, nu, last, step = np.zeros(n), np.zeros(n), np.inf, 1.0
        best, since = np.inf, 0
        for iteration in range(1, 1001):
            l, v, mu, sigma = recompute(k, tau, nu)
            new, nu_new, _, _, _ = moments(y, mu, sigma, tau, nu)
            worst = max(np.max(np.abs(new - tau) * sigma), np.max(np.abs(nu_new - nu) * np.sqrt(sigma)))
            best, since = (worst, 0) if worst < best else (best, since + 1)
            if worst <= tolerance or best < 1e-6 and since == 5:  # or rounding allows no better
                break
            if worst > last:
                step = max(step / 2, 1 / 64)  # full steps may swing
            last = worst
            tau, nu = tau + step * (new - tau), nu + step * (nu_new - nu)
        root = np.sqrt(tau)
        cross = kernel(x, z, theta)
        w = solve_triangular(l, root[:, None] * cross, lower=True, overwrite_b=True, check_finite=False)
        b = nu - root * cho_solve((l, True), root * (k @ nu), check_finite=False)
        variance = np.exp(theta[0]) - np.einsum("ij,ij->j", w, w)
        proba = np.exp(log_ndtr((cross.T @ b) / np.sqrt(1 + variance)))
        return {"value": evidence(l, tau, nu, mu, sigma, y), "evaluations": iteration, "out": list(proba)}
    return timed(f)


OPS = {f.__name__: f for f in (info, load, matrices, level3, gradient, tune, tune_gpboost, fitc_gpboost, laplace,
                               ep_sequential, ep_parallel)}

for line in sys.stdin:
    op, *pairs = line.split()
    arguments = dict(p.split("=", 1) for p in pairs)
    with threadpoolctl.threadpool_limits(int(arguments.pop("threads", 1))):
        try:
            answer = OPS[op](**arguments)
        except Exception as e:  # the other side reports it
            answer = {"error": f"{op}: {type(e).__name__}: {e}"}
    print(json.dumps(answer), flush=True)
