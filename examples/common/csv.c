#include "csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text_file.h"

enum { kMaxFields = 64 };

/* Cuts the line at its commas (those outside quotes); returns the number of fields. */
static int split(char* line, char* fields[]) {
  int count = 0;
  bool quoted = false;
  char* begin = line;
  for (char* c = line;; ++c) {
    if (*c == '"') quoted = !quoted;
    if (*c != '\0' && (*c != ',' || quoted)) continue;
    bool last = *c == '\0';
    *c = '\0';
    if (count < kMaxFields) fields[count] = begin;
    count++;
    begin = c + 1;
    if (last) return count;
  }
}

/* A field without the quotes around it. */
static char* unquote(char* field) {
  size_t length = strlen(field);
  if (length < 2 || field[0] != '"' || field[length - 1] != '"') return field;
  field[length - 1] = '\0';
  return field + 1;
}

/* Finds which field of the header each wanted column is. */
static bool find_columns(text_file_t* text, const char* const names[], int count, int column[],
                         int* width, failure_t* failure) {
  char* fields[kMaxFields];
  *width = split(text->line, fields);
  if (*width > kMaxFields) {
    return fail(failure, kExitBadInput, "%s: %d columns, at most %d can be read", text->path,
                *width, kMaxFields);
  }
  for (int f = 0; f < *width; ++f) fields[f] = unquote(fields[f]);
  for (int k = 0; k < count; ++k) {
    column[k] = -1;
    for (int f = 0; f < *width; ++f) {
      if (strcmp(fields[f], names[k]) == 0) column[k] = f;
    }
    if (column[k] < 0) {
      return fail(failure, kExitBadInput, "%s: the header has no column '%s'", text->path,
                  names[k]);
    }
  }
  return true;
}

static bool parse_row(text_file_t* text, const char* const names[], int count, const int column[],
                      int width, double row[], failure_t* failure) {
  char* fields[kMaxFields];
  int found = split(text->line, fields);
  if (found != width) {
    return fail(failure, kExitBadInput, "%s:%lld: %d fields, the header has %d%s", text->path,
                (long long)text->number, found, width,
                !text->ended ? "; the file is cut short" : "");
  }
  for (int k = 0; k < count; ++k) {
    const char* word = unquote(fields[column[k]]);
    char* end;
    row[k] = strtod(word, &end);
    if (end == word || *end != '\0' || !isfinite(row[k])) {
      return fail(failure, kExitBadInput, "%s:%lld: %s = '%s' is not a finite number", text->path,
                  (long long)text->number, names[k], word);
    }
  }
  return true;
}

static bool read_rows(text_file_t* text, const char* const names[], int count, int64_t* rows,
                      double** values, failure_t* failure) {
  int column[kMaxFields], width;
  if (!text_next_line(text)) {
    return !text_error(text, failure) &&
           fail(failure, kExitBadInput, "%s: the file is empty", text->path);
  }
  if (!find_columns(text, names, count, column, &width, failure)) return false;
  int64_t room = 0;
  while (text_next_line(text)) {
    if (text->line[0] == '\0') continue;
    if (*rows == room) {
      room = room > 0 ? 2 * room : 1024;
      double* grown = realloc(*values, (size_t)(room * count) * sizeof(double));
      if (!grown) return fail(failure, kExitLibrary, "%s: no memory for its rows", text->path);
      *values = grown;
    }
    double* row = *values + *rows * count;
    if (!parse_row(text, names, count, column, width, row, failure)) return false;
    ++*rows;
  }
  if (text_error(text, failure)) return false;
  if (*rows == 0) return fail(failure, kExitBadInput, "%s: no data rows", text->path);
  /* Legal in a CSV file, but a number that lost its last digits looks just so. */
  if (!text->ended) fprintf(stderr, "%s: warning: no end of line after the last row\n", text->path);
  return true;
}

bool csv_read(const char* path, const char* const names[], int count, int64_t* rows,
              double** values, failure_t* failure) {
  *rows = 0;
  *values = NULL;
  text_file_t text;
  if (!text_open(path, &text, failure)) return false;
  bool done = read_rows(&text, names, count, rows, values, failure);
  text_close(&text);
  if (!done) {
    free(*values);
    *values = NULL;
    *rows = 0;
  }
  return done;
}
