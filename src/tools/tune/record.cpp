#include "tools/tune/record.hpp"

#include <algorithm>

#include "tools/tune/result.hpp"

namespace chol::tune {
namespace {

const char* name_of(Fate fate) {
  switch (fate) {
    case Fate::timed:
      return "timed";
    case Fate::failed:
      return "failed";
    case Fate::untried:
      return "untried";
    default:
      return "ruled out";
  }
}

}  // namespace

std::vector<Record> records_of(const Space& space, const Journal& journal, const Point& point) {
  const std::vector<Choice> choices = space.candidates(point);
  const Choice chosen = winner(space, journal, point);
  std::vector<Record> all;
  int trials_of_all = 0;
  for (const Choice& choice : choices) {
    const double rate = journal.best_known(point, choice);
    const int trials = journal.trials_of(point, choice);
    const Fate fate = trials == 0 ? Fate::untried : rate > 0 ? Fate::timed : Fate::failed;
    all.push_back(
        {choice, fate, rate, trials, rate > 0 && choice == chosen, choice == choices.front()});
    trials_of_all += trials;
  }
  if (trials_of_all == 0) return {};
  for (const Choice& choice : space.ruled_out(point))
    all.push_back({choice, Fate::ruled_out, 0, 0, false, false});
  std::stable_sort(all.begin(), all.end(),
                   [](const Record& a, const Record& b) { return a.rate > b.rate; });
  return all;
}

const char* const kRecordColumns =
    "machine,routine,form,precision,n,plan,method,fate,trials,gflops,share,is_winner,is_built_in\n";

void write_records(std::ostream& out, const Space& space, const Journal& journal,
                   const std::vector<Point>& points) {
  for (const Point& point : points) {
    const std::vector<Record> all = records_of(space, journal, point);
    for (const Record& r : all) {
      // A device's name may contain any characters.
      out << '"' << space.machine() << "\"," << routine_name(point.routine) << ','
          << form_name(point.form) << ',' << point.precision << ',' << point.n << ','
          << text_of(r.choice) << ',' << r.choice.method->name << ',' << name_of(r.fate) << ','
          << r.trials << ',';
      if (r.fate == Fate::timed)
        out << r.rate << ',' << r.rate / all.front().rate;
      else
        out << ',';
      out << ',' << r.is_winner << ',' << r.is_built_in << '\n';
    }
  }
}

}  // namespace chol::tune
