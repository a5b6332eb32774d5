# The number after `columns` more columns of a matrix' row.
function(row_column matrix columns result)
  set(regex "${matrix}")
  foreach(_ RANGE 1 ${columns})
    string(APPEND regex " +[-+.e0-9]+")
  endforeach()
  set(${result} "${regex}" PARENT_SCOPE)
endfunction()

foreach(case "bcsstk01 48" "bcsstk02 66" "bcsstk16 4884")
  string(REPLACE " " ";" case ${case})
  list(GET case 0 matrix)
  list(GET case 1 n)
  row_column(${matrix}.mtx 4 residual)
  row_column(${matrix}.mtx 5 error)
  row_column(${matrix}.mtx 6 rcond)
  example_test(${matrix} stiffness EXIT 0 MATCH "${matrix}.mtx +${n} "
    LESS "${residual}<30" "${error}<1e-8" "0<${rcond}" ARGS ${data}/${matrix}.mtx --nrhs=3)
endforeach()

# Unusual but valid files: all contain [4 1; 1 3], with log(11) = 2.39790.
foreach(file array array_symmetric duplicates upper)
  example_test(${file} stiffness EXIT 0 MATCH "2\\.3979" ARGS ${files}/${file}.mtx)
endforeach()

# Real files cut in the middle, at a line's end and within a number.
file(READ ${data}/bcsstk02.mtx text LIMIT 20000)
string(FIND "${text}" "\n" end REVERSE)
string(SUBSTRING "${text}" 0 ${end} text)
file(WRITE ${out}/bcsstk02_cut.mtx "${text}\n")
example_test(cut_real stiffness EXIT 4 MATCH "bcsstk02_cut.mtx: the file is cut short: it ends before its entry [0-9]+ of 2211"
  ARGS ${out}/bcsstk02_cut.mtx)

function(refused file code message)
  example_test(${file} stiffness EXIT ${code} MATCH "stiffness: [^ ]*${file}[.]mtx:${message}"
    ARGS ${files}/${file}.mtx)
endfunction()
refused(missing 3 " No such file")
refused(empty 4 " the file is cut short")
refused(empty_matrix 4 "2: the matrix has no rows")
refused(banner 4 "1: not a Matrix Market file")
refused(bad_size 4 "2: the size line must hold")
refused(cut_short 4 " the file is cut short: it ends before its entry 4 of 4")
refused(array_cut 4 " the file is cut short: it ends before its entry 3 of 3")
refused(not_square 4 " the matrix is not square: 2 rows, 3 columns")
refused(not_symmetric 4 " the matrix is not symmetric: entry .2, 1. = 1, but .1, 2. = 1.5")
refused(skew 4 "1: the matrix is not symmetric")
refused(complex 4 "1: the field must be real")
refused(both_triangles 4 " a symmetric file stores one triangle")
refused(out_of_range 4 "4: index .3, 2. is out of range: the order is 2")
refused(zero_index 4 "3: index .0, 1. is out of range")
refused(nan 4 "3: a value is not finite")
refused(overflow 4 "3: a value is not finite")
refused(no_value 4 "3: an entry must be")
refused(long_line 4 "3: more on the line than one entry")
refused(too_many 4 "4: more entries than announced")
refused(huge 4 " n = 999999999 is too large")
refused(indefinite 5 " the matrix is not positive definite: its leading minor of order 2 is not")

example_test(no_memory stiffness EXIT 6 MATCH "no memory for a dense matrix of order 536870912"
  ARGS ${files}/no_memory.mtx)
example_test(directory stiffness EXIT 3 MATCH "directory" ARGS ${files})
example_test(goes_on_after_a_failure stiffness EXIT 4 MATCH "not square" "bcsstk01.mtx +48"
  ARGS ${files}/not_square.mtx ${data}/bcsstk01.mtx)
example_test(no_file stiffness EXIT 2 MATCH "no file given")
example_test(bad_option stiffness EXIT 2 MATCH "--help" ARGS --frobnicate)
example_test(bad_nrhs stiffness EXIT 2 MATCH "--nrhs = '0', must be an integer from 1 to" ARGS -r 0 x)
example_test(bad_threads stiffness EXIT 2 MATCH "--threads = 'two'" ARGS -t two x)
example_test(help stiffness EXIT 0 MATCH "Usage: stiffness" "Exit codes" ARGS --help)
