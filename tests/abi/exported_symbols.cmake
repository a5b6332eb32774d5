# Compares what libchol.so exports with what chol.h declares, both ways, and checks the library's
# dependencies. Run as
#   cmake -D LIBRARY=... -D HEADER=... -D BLAS=... -D NM=... -D READELF=... -P exported_symbols.cmake
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [A-Za-z] [^\n@ ]+" exported "${symbols}")
list(TRANSFORM exported REPLACE "^ [A-Za-z] " "")
list(REMOVE_ITEM exported CHOL_0) # the version itself

file(READ ${HEADER} text)
string(REGEX MATCHALL "CHOL_EXPORT [a-z_ ]+[ *]chol_[a-z0-9_]+\\(" declared "${text}")
list(TRANSFORM declared REPLACE "^.*[ *](chol_[a-z0-9_]+)\\($" "\\1")
list(LENGTH declared count)
if(count LESS 80)
  message(FATAL_ERROR "only ${count} declarations found in ${HEADER}")
endif()

set(not_declared ${exported})
list(REMOVE_ITEM not_declared ${declared})
set(not_exported ${declared})
list(REMOVE_ITEM not_exported ${exported})
foreach(list not_declared not_exported)
  if(${list})
    message(SEND_ERROR "${list}: ${${list}}")
  endif()
endforeach()

execute_process(COMMAND ${READELF} -d ${LIBRARY}
  OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
if(NOT dynamic MATCHES "soname: \\[libchol\\.so\\.0\\]")
  message(SEND_ERROR "the soname is not libchol.so.0")
endif()
set(foreign cuda cublas nccl lapack)
if(NOT BLAS)
  list(APPEND foreign blas gfortran)
endif()
list(JOIN foreign "|" foreign)
if(dynamic MATCHES "NEEDED[^\n]*(${foreign})")
  message(SEND_ERROR "needs ${CMAKE_MATCH_1}")
endif()
if(dynamic MATCHES "TEXTREL")
  message(SEND_ERROR "has text relocations")
endif()
message(STATUS "${count} functions, exported and declared")
