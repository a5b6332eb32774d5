% Octave's Cholesky routines: prints verdicts, the same with and without the preload.
1;
function word = verdict(got, expected)
  worst = max(abs(got - expected)(:)) / max(abs(expected)(:));
  if worst < 1e-11 word = "accurate"; else word = sprintf("off by %g", worst); end
end
rand("seed", 2);
for n = [1 2 9 50 400]
  X = rand(n + 5, n) + (n > 5) * 1i * rand(n + 5, n);
  A = X' * X + n * eye(n);
  R = chol(A);
  L = chol(A, "lower");
  printf("%d %s %s %s %s\n", n, verdict(R' * R, A), verdict(L * L', A), ...
         verdict(A \ (A * ones(n, 2)), ones(n, 2)), verdict(chol2inv(R) * A, eye(n)));
end
A = eye(6); A(4, 4) = -1;
[R, p] = chol(A);
printf("%d %d %s\n", p, rows(R), verdict(R, eye(3)));
try
  chol(A);
catch failure
  disp(failure.message);
end
printf("%.8g\n", 2 * sum(log(diag(chol(hilb(4) + eye(4))))));
