#include "matrix_market.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "memory.h"
#include "text_file.h"

typedef struct {
  text_file_t text;
  bool coordinate, symmetric;
  int64_t n, entries;
  double* A;
} reader_t;

static bool malformed(const reader_t* reader, const char* what, failure_t* failure) {
  return fail(failure, kExitBadInput, "%s:%" PRId64 ": %s", reader->text.path, reader->text.number,
              what);
}

/* The next line that is neither a comment nor blank. */
static bool next_data_line(reader_t* reader) {
  while (text_next_line(&reader->text)) {
    const char* c = reader->text.line;
    while (isspace((unsigned char)*c)) ++c;
    if (*c != '\0' && *c != '%') return true;
  }
  return false;
}

static bool cut_short(const reader_t* reader, const char* expected, failure_t* failure) {
  if (text_error(&reader->text, failure)) return false;
  return fail(failure, kExitBadInput, "%s: the file is cut short: it ends before its %s",
              reader->text.path, expected);
}

static bool read_banner(reader_t* reader, failure_t* failure) {
  char format[32], field[32], symmetry[32];
  if (!text_next_line(&reader->text)) return cut_short(reader, "first line", failure);
  if (sscanf(reader->text.line, "%%%%MatrixMarket matrix %31s %31s %31s", format, field,
             symmetry) != 3) {
    return malformed(reader,
                     "not a Matrix Market file: the first line is not "
                     "'%%MatrixMarket matrix FORMAT FIELD SYMMETRY'",
                     failure);
  }
  reader->coordinate = strcasecmp(format, "coordinate") == 0;
  if (!reader->coordinate && strcasecmp(format, "array") != 0) {
    return malformed(reader, "the format must be coordinate or array", failure);
  }
  if (strcasecmp(field, "real") != 0 && strcasecmp(field, "double") != 0 &&
      strcasecmp(field, "integer") != 0) {
    return malformed(reader, "the field must be real or integer", failure);
  }
  reader->symmetric = strcasecmp(symmetry, "symmetric") == 0;
  if (!reader->symmetric && strcasecmp(symmetry, "general") != 0) {
    return malformed(reader,
                     "the matrix is not symmetric: the symmetry must be symmetric, or "
                     "general with equal triangles",
                     failure);
  }
  return true;
}

/* `count` numbers >= 0 and nothing else. */
static bool parse_counts(const char* line, int count, int64_t numbers[]) {
  for (int k = 0; k < count; ++k) {
    char* end;
    errno = 0;
    numbers[k] = strtoll(line, &end, 10);
    if (end == line || errno != 0 || numbers[k] < 0) return false;
    line = end;
  }
  return line[strspn(line, " \t")] == '\0';
}

static bool read_size(reader_t* reader, failure_t* failure) {
  if (!next_data_line(reader)) return cut_short(reader, "size line", failure);
  int64_t sizes[3] = {0, 0, 0};
  if (!parse_counts(reader->text.line, reader->coordinate ? 3 : 2, sizes)) {
    return malformed(reader,
                     "the size line must hold 'rows columns entries' (coordinate) or "
                     "'rows columns' (array)",
                     failure);
  }
  const int64_t rows = sizes[0], columns = sizes[1];
  if (rows != columns) {
    return fail(failure, kExitBadInput,
                "%s: the matrix is not square: %" PRId64 " rows, %" PRId64 " columns",
                reader->text.path, rows, columns);
  }
  if (rows == 0) return malformed(reader, "the matrix has no rows", failure);
  /* So that n * n doubles can be counted in bytes. */
  if (rows > (int64_t)1 << 29) {
    return fail(failure, kExitBadInput, "%s: n = %" PRId64 " is too large for a dense matrix",
                reader->text.path, rows);
  }
  reader->n = rows;
  reader->entries = sizes[2];
  if (!reader->coordinate)
    reader->entries = reader->symmetric ? rows * (rows + 1) / 2 : rows * rows;
  return true;
}

static bool parse_value(reader_t* reader, const char* text, double* value, failure_t* failure) {
  char* end;
  *value = strtod(text, &end);
  if (end == text) return malformed(reader, "a value is missing", failure);
  while (isspace((unsigned char)*end)) ++end;
  if (*end != '\0') return malformed(reader, "more on the line than one entry", failure);
  if (!isfinite(*value)) return malformed(reader, "a value is not finite", failure);
  return true;
}

static bool parse_coordinate(reader_t* reader, int64_t* row, int64_t* column, double* value,
                             failure_t* failure) {
  char* end;
  errno = 0;
  long long i = strtoll(reader->text.line, &end, 10);
  char* second = end;
  long long j = strtoll(second, &end, 10);
  if (second == reader->text.line || end == second || !isspace((unsigned char)*end)) {
    return malformed(reader, "an entry must be 'row column value'", failure);
  }
  if (errno != 0 || i < 1 || i > reader->n || j < 1 || j > reader->n) {
    return fail(failure, kExitBadInput,
                "%s:%" PRId64 ": index (%lld, %lld) is out of range: the order is %" PRId64,
                reader->text.path, reader->text.number, i, j, reader->n);
  }
  *row = i - 1;
  *column = j - 1;
  return parse_value(reader, end, value, failure);
}

/* Array format goes down the columns, from the diagonal on when the file is symmetric. */
static void next_array_place(const reader_t* reader, int64_t* row, int64_t* column) {
  if (++*row < reader->n) return;
  ++*column;
  *row = reader->symmetric ? *column : 0;
}

static bool read_entries(reader_t* reader, failure_t* failure) {
  bool below = false, above = false;
  int64_t row = -1, column = 0;
  for (int64_t e = 0; e < reader->entries; ++e) {
    if (!next_data_line(reader)) {
      char expected[64];
      snprintf(expected, sizeof expected, "entry %" PRId64 " of %" PRId64, e + 1, reader->entries);
      return cut_short(reader, expected, failure);
    }
    double value;
    if (reader->coordinate) {
      if (!parse_coordinate(reader, &row, &column, &value, failure)) return false;
    } else {
      next_array_place(reader, &row, &column);
      if (!parse_value(reader, reader->text.line, &value, failure)) return false;
    }
    reader->A[row + column * reader->n] += value;
    if (reader->symmetric && row != column) reader->A[column + row * reader->n] += value;
    below |= row > column;
    above |= row < column;
  }
  if (reader->symmetric && below && above) {
    return fail(failure, kExitBadInput,
                "%s: a symmetric file stores one triangle, this one has entries in both",
                reader->text.path);
  }
  if (next_data_line(reader)) return malformed(reader, "more entries than announced", failure);
  return true;
}

static bool check_symmetric(const reader_t* reader, failure_t* failure) {
  const int64_t n = reader->n;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j + 1; i < n; ++i) {
      double lower = reader->A[i + j * n], upper = reader->A[j + i * n];
      if (fabs(lower - upper) > 1e-12 * fmax(fabs(lower), fabs(upper))) {
        return fail(failure, kExitBadInput,
                    "%s: the matrix is not symmetric: entry (%" PRId64 ", %" PRId64
                    ") = %.17g, but (%" PRId64 ", %" PRId64 ") = %.17g",
                    reader->text.path, i + 1, j + 1, lower, j + 1, i + 1, upper);
      }
    }
  }
  return true;
}

static bool read_matrix(reader_t* reader, failure_t* failure) {
  if (!read_banner(reader, failure) || !read_size(reader, failure)) return false;
  char what[64];
  snprintf(what, sizeof what, "a dense matrix of order %" PRId64, reader->n);
  reader->A = allocate_doubles((size_t)(reader->n * reader->n), what, failure);
  if (!reader->A) return false;
  if (!read_entries(reader, failure)) return false;
  return reader->symmetric || check_symmetric(reader, failure);
}

bool matrix_market_read(const char* path, int64_t* n, int64_t* entries, double** A,
                        failure_t* failure) {
  reader_t reader = {.n = 0};
  *A = NULL;
  if (!text_open(path, &reader.text, failure)) return false;
  bool done = read_matrix(&reader, failure);
  text_close(&reader.text);
  if (!done) {
    free(reader.A);
    return false;
  }
  *n = reader.n;
  *entries = reader.entries;
  *A = reader.A;
  return true;
}
