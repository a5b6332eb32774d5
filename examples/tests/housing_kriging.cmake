set(csv ${data}/california_housing.csv)
find_program(gnuplot gnuplot)

# The full example, with both means; also the map if gnuplot is installed.
foreach(drift constant income)
  set(map)
  if(gnuplot)
    set(map FILES ${out}/${drift}.png)
  endif()
  example_test(${drift} housing_kriging EXIT 0 MATCH "systems +4113 of order" "cross-check"
    LESS "kriging  <mean  " "kriging  <nearest neighbour" "90<intervals hold" "intervals hold<98"
    FILES ${out}/${drift}.png.dat ${out}/${drift}.png.gp ${map}
    ARGS ${csv} --drift=${drift} --map=${out}/${drift}.png --repeat=1 --sample=100)
endforeach()
if(gnuplot)
  example_test(svg housing_kriging EXIT 0 FILES ${out}/few.svg
    ARGS ${csv} --share=0.01 --range=10 --nugget=0.2 --repeat=1 --map=${out}/few.svg)
endif()
example_test(no_gnuplot housing_kriging EXIT 0 MATCH "not drawn: gnuplot is missing"
  FILES ${out}/no_gnuplot.png.gp
  ARGS ${csv} --share=0.01 --range=10 --nugget=0.2 --repeat=1 --map=${out}/no_gnuplot.png)
set_tests_properties(examples.housing_kriging.no_gnuplot PROPERTIES ENVIRONMENT PATH=/nonexistent)

# Quotes, other columns, line ends of another system; and all blocks at one position.
example_test(coincident housing_kriging EXIT 0 MATCH "mean squared z"
  ARGS ${files}/coincident.csv --range=10 --nugget=0.2 --repeat=1)
example_test(no_nugget housing_kriging EXIT 5 MATCH "not positive definite: its leading minor of order"
  ARGS ${files}/coincident.csv --range=10 --nugget=1e-300 --repeat=1)

# The real file, cut within a line and within a number.
file(READ ${csv} text LIMIT 100000)
string(FIND "${text}" "," end REVERSE)
string(SUBSTRING "${text}" 0 ${end} text)
file(WRITE ${out}/cut_real.csv "${text}")
example_test(cut_real housing_kriging EXIT 4 MATCH "fields, the header has 4; the file is cut short"
  ARGS ${out}/cut_real.csv)

function(refused_csv file code message)
  example_test(${file} housing_kriging EXIT ${code} MATCH "${file}[.]csv:${message}"
    ARGS ${files}/${file}.csv)
endfunction()
refused_csv(missing 3 " No such file")
refused_csv(empty 4 " the file is empty")
refused_csv(header_only 4 " no data rows")
refused_csv(no_column 4 " the header has no column 'median_house_value'")
refused_csv(cut_short 4 "3: 3 fields, the header has 4; the file is cut short")
refused_csv(not_a_number 4 "3: median_income = 'abc' is not a finite number")
refused_csv(nan 4 "2: median_house_value = 'nan' is not a finite number")
refused_csv(latitude 4 " data row 1: 97.88: latitude must be from -90 to 90")
refused_csv(negative 4 " data row 1: -1: median_house_value must be > 0")

example_test(no_memory housing_kriging EXIT 6 MATCH "no memory for the matrices"
  ARGS ${csv} --share=0.9 --radius=20000 --most=4096 --range=10 --nugget=0.2)

function(refused_option name message)
  example_test(option_${name} housing_kriging EXIT 2 MATCH "${message}" ARGS ${ARGN})
endfunction()
refused_option(none "no file given")
refused_option(unknown "--help" --frobnicate)
refused_option(two_files "more than one file" a b)
refused_option(share "--share = '2', must be a number from 0.001 to 0.999" --share=2 x)
refused_option(share_nan "--share = 'nan'" --share=nan x)
refused_option(radius "--radius = 'far'" -r far x)
refused_option(drift "--drift = 'up', must be 'constant' or 'income'" --drift=up x)
refused_option(map "--map = 'a.jpg', must end in" --map=a.jpg x)
refused_option(fewest "--fewest = 200, must be at most --most = 100" --fewest=200 --most=100 x)
refused_option(nugget "--nugget = '0'" --nugget=0 x)
example_test(help housing_kriging EXIT 0 MATCH "Usage: housing_kriging" "Exit codes" ARGS --help)
