"""scikit-learn's Gaussian process on the housing data: its predictions, and the time on stderr.

Usage: gaussian_process.py HOUSING_CSV [ROWS]"""
import csv
import sys
import time

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

rows = int(sys.argv[2]) if len(sys.argv) > 2 else 800
with open(sys.argv[1], newline="") as file:
    table = list(csv.reader(file))
data = np.array([[float(x) for x in row] for row in table[1:rows + 101]])
data = (data - data.mean(axis=0)) / (data.std(axis=0) + 1e-12)
X, y = data[:rows, :-1], data[:rows, -1]
kernel = ConstantKernel(1.0) * RBF(2.0) + WhiteKernel(0.1)
start = time.perf_counter()
model = GaussianProcessRegressor(kernel=kernel, optimizer=None).fit(X, y)
mean, deviation = model.predict(data[rows:, :-1], return_std=True)
likelihoods = [model.log_marginal_likelihood(model.kernel_.theta + 0.01 * k) for k in range(4)]
print("%.3f s" % (time.perf_counter() - start), file=sys.stderr)
for value in list(mean[:10]) + list(deviation[:10]) + likelihoods:
    print("%.5g" % value)
