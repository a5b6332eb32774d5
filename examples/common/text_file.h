/** A text file read line by line, which knows the number of the line for messages. */
#ifndef CHOL_EXAMPLES_TEXT_FILE_H
#define CHOL_EXAMPLES_TEXT_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "failure.h"

typedef struct {
  const char* path;
  FILE* file;
  char* line; /* the last one read, without its end */
  size_t room;
  int64_t number; /* of that line, from 1 */
  bool ended;     /* whether that line had an end: false for the last one of a file cut short */
} text_file_t;

bool text_open(const char* path, text_file_t* text, failure_t* failure);
/** False at the end of the file or after an error; text_error() tells which. */
bool text_next_line(text_file_t* text);
/** True, with the failure filled in, when reading stopped because of an error. */
bool text_error(const text_file_t* text, failure_t* failure);
void text_close(text_file_t* text);

#endif
