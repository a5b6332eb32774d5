// The picture of a report, drawn by the script chol-tune-plot, which lies beside this program.
#pragma once

#include <string>

namespace chol::tune {

/// Writes the records, as CSV, to a file that ends in .csv; for one that ends in .svg or .png
/// writes them to FILE.csv and has FILE drawn of them, or says how to where that cannot be done
/// here. Throws std::runtime_error.
void write_figure(const std::string& path, const std::string& records);

/// What is wrong with a name for it, or nothing.
std::string reason_against(const std::string& path);

}  // namespace chol::tune
