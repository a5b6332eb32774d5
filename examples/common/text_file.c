#include "text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool text_open(const char* path, text_file_t* text, failure_t* failure) {
  *text = (text_file_t){.path = path, .file = fopen(path, "r"), .ended = true};
  return text->file || fail(failure, kExitNoInput, "%s: %s", path, strerror(errno));
}

bool text_next_line(text_file_t* text) {
  ssize_t length = getline(&text->line, &text->room, text->file);
  if (length < 0) return false;
  text->number++;
  text->ended = length > 0 && text->line[length - 1] == '\n';
  while (length > 0 && strchr("\r\n", text->line[length - 1])) text->line[--length] = '\0';
  return true;
}

bool text_error(const text_file_t* text, failure_t* failure) {
  return ferror(text->file) && !fail(failure, kExitNoInput, "%s: %s", text->path, strerror(errno));
}

void text_close(text_file_t* text) {
  if (text->file) fclose(text->file);
  free(text->line);
}
