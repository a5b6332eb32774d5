# Writes kEmbeddedHeaders of sources.hpp.
#   cmake -DOUTPUT=file -DHEADERS="name=path;..." -P embed.cmake
set(entries "")
set(count 0)
foreach(header IN LISTS HEADERS)
  string(REGEX MATCH "^([^=]*)=(.*)$" parts "${header}")
  file(READ "${CMAKE_MATCH_2}" text)
  string(APPEND entries "    {\"${CMAKE_MATCH_1}\", R\"~chol~(${text})~chol~\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}" "#include \"compile/sources.hpp\"

namespace chol::cuda {
const EmbeddedHeader kEmbeddedHeaders[] = {
${entries}};
const size_t kEmbeddedHeaderCount = ${count};
}  // namespace chol::cuda
")
