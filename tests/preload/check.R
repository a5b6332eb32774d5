# R's Cholesky routines: prints verdicts, the same with and without the preload.
verdict <- function(got, expected) {
  worst <- max(abs(got - expected)) / max(abs(expected))
  if (worst < 1e-11) "accurate" else paste("off by", format(worst))
}
set.seed(4)
for (n in c(1, 2, 9, 50, 400)) {
  X <- matrix(rnorm(n * (n + 5)), n + 5, n)
  A <- crossprod(X) + diag(n)
  R <- chol(A)
  cat(n, verdict(crossprod(R), A), verdict(chol2inv(R) %*% A, diag(n)),
      verdict(backsolve(R, forwardsolve(t(R), A %*% rep(1, n))), rep(1, n)), "\n")
}
# The penalized least squares of a mixed model: one factor for each value of the parameter.
Z <- matrix(rnorm(300 * 60), 300, 60)
y <- rnorm(300)
for (theta in c(0.1, 0.5, 1, 2)) {
  R <- chol(crossprod(Z) * theta^2 + diag(60))
  u <- backsolve(R, backsolve(R, theta * crossprod(Z, y), transpose = TRUE))
  cat(sprintf("%.8g %.8g\n", 2 * sum(log(diag(R))), sum(u^2)))
}
bad <- diag(5)
bad[4, 4] <- -2
cat(tryCatch({ chol(bad); "no error" }, error = function(e) conditionMessage(e)), "\n")
cat(tryCatch({ chol(matrix(1, 2, 3)); "no error" }, error = function(e) conditionMessage(e)), "\n")
# multicore forks.
sizes <- c(20, 200, 500, 30)
print(unlist(parallel::mclapply(sizes, function(n) {
  A <- diag(n) * n + 0.5
  verdict(crossprod(chol(A)), A)
}, mc.cores = 2)))
