# chol.h says a routine once and then gives its four prototypes. For Doxygen each prototype gets the
# text, with its closing lines as paragraphs of their own.
/^\/\*\*$/ { inside = 1; text = "" }
inside {
  line = $0
  if (line ~ /^ \* (Threads|Method)[a-z ]*:/) {
    title = line
    sub(/^ \* /, "", title)
    sub(/:.*/, "", title)
    sub(/^ \* [A-Za-z ]*: */, " * ", line)
    line = " * @par " title "\n" line
  }
  text = text line "\n"
  if (/\*\/$/) { inside = 0; if (!routines) printf "%s", text }
  next
}
/^\/\*\* @defgroup one/ { routines = 1 }
/^\/\*\* @defgroup tlr/ { routines = 0 } # one prototype each
routines && /^CHOL_EXPORT/ { printf "%s", text }
{ print }
