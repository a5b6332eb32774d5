/** Numbers on a command line: the whole word must be one, within bounds that the message names. */
#ifndef CHOL_EXAMPLES_ARGUMENTS_H
#define CHOL_EXAMPLES_ARGUMENTS_H

#include "failure.h"

bool parse_integer(const char* option, const char* text, long lowest, long highest, long* value,
                   failure_t* failure);
bool parse_real(const char* option, const char* text, double lowest, double highest, double* value,
                failure_t* failure);

#endif
