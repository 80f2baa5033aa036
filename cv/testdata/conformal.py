"""Prints the conformal sets that conformal_test.go compares with: for each setting a line with the
sets of 45 cases of 3 classes in 5 folds, as numbers in which bit c is class c.

The formula is written out for one case and one class at a time, with fractions for the probabilities
and for the coverage, so that nothing is rounded."""

from fractions import Fraction

N, CLASSES, FOLDS = 45, 3, 5


def proba(i, repeat):
    x = [Fraction((i * 7919 + k * 104729 + repeat * 31 + 12345) % 1009 % 97 + 1) for k in range(CLASSES)]
    return [v / sum(x) for v in x]


label = [(i * i + i // 3) % CLASSES for i in range(N)]
weight = [Fraction(1 + i % 4, 2) for i in range(N)]


def sets(coverage, repeats=1, weights=None, fold=lambda i, repeat: (i + repeat * (i // 5)) % FOLDS):
    out = []
    for repeat in range(repeats):
        for i in range(N):
            row, bits = proba(i, repeat), 0
            for c in range(CLASSES):
                above, below = Fraction(1), Fraction(1)
                for j in range(N):
                    # j takes part unless the model that predicts i was not fitted to it
                    if label[j] != c or fold(j, repeat) == fold(i, repeat):
                        continue
                    for other in range(repeats):
                        w = (weights[j] if weights else 1) / Fraction(repeats)
                        above += w
                        below += w if proba(j, other)[c] <= row[c] else 0
                if below / above > 1 - coverage:
                    bits |= 1 << c
            out.append(bits)
    return "".join(map(str, out))


print(sets(Fraction(9, 10)))
print(sets(Fraction(4, 5)))
print(sets(Fraction(1, 2)))
print(sets(Fraction(4, 5), weights=weight))
print(sets(Fraction(4, 5), repeats=2))
