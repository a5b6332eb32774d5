// The figure of a report, drawn by the script chol-tune-plot in the folder of this program.
#pragma once

#include <string>

namespace chol::tune {

/// Writes the records, as CSV, to a file that ends in .csv; for one that ends in .svg or .png
/// writes them to FILE.csv and draws FILE, or prints how to draw it if that is impossible here.
/// Throws std::runtime_error.
void write_figure(const std::string& path, const std::string& records);

/// What is wrong with such a file name, or empty.
std::string reason_against(const std::string& path);

}  // namespace chol::tune
