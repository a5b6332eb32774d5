// Output: one line of CSV a case, a table on the terminal, the evaluation of the bars.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "contest.hpp"
#include "suite.hpp"

namespace chol::bench {

/// A line of the CSV by column name.
using Record = std::map<std::string, std::string>;

const std::vector<std::string>& columns();

/// Of the run, not of the case: date, machine, commit.
Record run_facts(const std::string& commit);

/// @param bar NULL for a replay. @param roofline flops a second, 0 when it was not measured.
/// @param others share of the machine used by other processes.
Record record_of(const Outcome& outcome, const Bar* bar, double roofline, double others,
                 const Record& facts);

std::string csv_header();
std::string csv_line(const Record& record);
/// Throws std::runtime_error for a file that cannot be read or is not a CSV file of chol-bench.
std::vector<Record> read_csv(const std::string& path);

void print_outcome(std::ostream& out, const Outcome& outcome, double roofline);
/// Every bar: floor, aim, the worst case and the geometric mean, whether it is met. For cases
/// measured several times the last result is used.
void print_bars(std::ostream& out, const std::vector<Record>& records);

}  // namespace chol::bench
