# Runs a program and compares with what is expected of it:
#   PROGRAM, ARGUMENTS  what to run
#   EXIT                its exit code
#   MATCH               regular expressions that its output (stdout and stderr) must match
#   LESS                pairs "A<B": the first number that regular expression A finds must be less
#   than the one that B finds, or than the number B
#   FILES               files that must exist afterwards and not be empty
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE exit
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT exit STREQUAL EXIT)
  message(SEND_ERROR "exit code ${exit}, expected ${EXIT}")
endif()
foreach(regex IN LISTS MATCH)
  if(NOT output MATCHES "${regex}")
    message(SEND_ERROR "the output does not match '${regex}'")
  endif()
endforeach()

function(find_number regex result)
  if(regex MATCHES "^[-+.e0-9]+$")
    set(${result} ${regex} PARENT_SCOPE)
  elseif(output MATCHES "${regex} *([-+.e0-9]+)")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    message(SEND_ERROR "no number after '${regex}' in the output")
    set(${result} NOTFOUND PARENT_SCOPE)
  endif()
endfunction()

foreach(pair IN LISTS LESS)
  string(REPLACE "<" ";" pair "${pair}")
  list(GET pair 0 left)
  list(GET pair 1 right)
  find_number("${left}" smaller)
  find_number("${right}" larger)
  if(NOT smaller LESS larger)
    message(SEND_ERROR "'${left}' = ${smaller} is not less than '${right}' = ${larger}")
  endif()
endforeach()
foreach(file IN LISTS FILES)
  file(SIZE "${file}" size)
  if(size EQUAL 0)
    message(SEND_ERROR "${file} is empty")
  endif()
endforeach()
