#include "contest.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "input.hpp"
#include "process.hpp"

namespace chol::bench {
namespace {

/// The inputs of a contest: one for each shape, shared by triangles and numbers of threads.
class Inputs {
 public:
  int descriptor_for(const Case& c) {
    auto& memory = memories_[{c.precision, c.form, c.n, c.nrhs, c.lda, c.batch}];
    if (!memory) {
      const Layout layout = layout_of(c);
      memory = std::make_unique<SharedMemory>(input_bytes(layout, c.precision));
      fill_input(c, layout, memory->data());
    }
    return memory->descriptor();
  }

 private:
  std::map<std::tuple<char, Form, int64_t, int64_t, int64_t, int64_t>,
           std::unique_ptr<SharedMemory>>
      memories_;
};

struct Runner {
  std::shared_ptr<Process> process;  ///< sides that share memory share it
  Timing* timing;
  int repetitions = 1;
  double estimate = 0;  ///< seconds of the last run of the trial
};

void give_up(Runner& runner, const std::string& why) {
  runner.timing->trouble = why;
  runner.process.reset();
}

Request order_of(Order order, const Case& c, const Settings& settings) {
  Request request;
  request.order = order;
  request.work = c;
  request.cold = settings.cold;
  request.cpu_time = settings.cpu_time;
  return request;
}

/// Runs the case once with the check, and again to see how long it takes when warm.
void try_out(Runner& runner, const Settings& settings) {
  const Case& c = runner.timing->side.c;
  Request request = order_of(Order::run, c, settings);
  request.check = 1;
  Reply reply = runner.process->ask(request);
  if (!reply.ok) return give_up(runner, reply.text);
  runner.timing->version = reply.text;
  runner.timing->residual = reply.residual;
  runner.timing->failed = reply.failed;
  runner.estimate = reply.seconds[0];
  if (runner.estimate < 0.5) {
    request.check = 0;
    reply = runner.process->ask(request);
    if (!reply.ok) return give_up(runner, reply.text);
    runner.estimate = std::min(runner.estimate, reply.seconds[0]);
  }
  constexpr int kMost = 9;
  runner.repetitions =
      settings.repetitions > 0
          ? settings.repetitions
          : std::clamp(static_cast<int>(settings.round_seconds / reply.wall), 1, kMost);
}

/// A round of the sides of one process, in turns, so that the state of all caches before a call is
/// the same for each.
void run_round(const std::vector<Runner*>& turns, const Settings& settings) {
  int repetitions = kMostRepetitions;
  for (const Runner* runner : turns) repetitions = std::min(repetitions, runner->repetitions);
  std::vector<std::vector<double>> seconds(turns.size());
  const int at_once = turns.size() == 1 ? repetitions : 1;
  for (int done = 0; done < repetitions; done += at_once)
    for (size_t i = 0; i < turns.size(); ++i) {
      if (!turns[i]->process) return;
      Request request = order_of(Order::run, turns[i]->timing->side.c, settings);
      request.repetitions = at_once;
      const Reply reply = turns[i]->process->ask(request);
      if (!reply.ok) {
        turns[i]->timing->round_seconds.clear();
        return give_up(*turns[i], reply.text);
      }
      seconds[i].insert(seconds[i].end(), reply.seconds, reply.seconds + reply.repetitions);
    }
  for (size_t i = 0; i < turns.size(); ++i)
    turns[i]->timing->round_seconds.push_back(median(seconds[i]));
}

/// Remaining contestants, by process.
std::vector<std::vector<Runner*>> by_process(std::vector<Runner>& runners) {
  std::vector<std::vector<Runner*>> groups;
  for (Runner& runner : runners) {
    if (!runner.process) continue;
    const auto same = [&](const std::vector<Runner*>& group) {
      return group[0]->process == runner.process;
    };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end())
      groups.push_back({&runner});
    else
      found->push_back(&runner);
  }
  return groups;
}

double rate(const Timing& timing, double seconds) { return flops_of(timing.side.c) / seconds; }

/// A much slower rival cannot be the best one: its trial is used as its time.
void drop_hopeless(std::vector<Runner>& runners, const Settings& settings) {
  double best = 0;
  for (size_t i = 1; i < runners.size(); ++i)
    if (runners[i].process) best = std::max(best, rate(*runners[i].timing, runners[i].estimate));
  for (size_t i = 1; i < runners.size(); ++i)
    if (runners[i].process &&
        rate(*runners[i].timing, runners[i].estimate) * settings.hopeless < best) {
      runners[i].timing->round_seconds.push_back(runners[i].estimate);
      runners[i].process.reset();
    }
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool Timing::right() const { return failed == 0 && residual < kResidualBound; }

double Timing::gflops() const { return timed() ? rate(*this, median(round_seconds)) * 1e-9 : 0; }

Ratio Outcome::against(const Timing& rival) const {
  std::vector<double> ratios;
  for (size_t r = 0; r < ours.round_seconds.size(); ++r) {
    const size_t other = std::min(r, rival.round_seconds.size() - 1);
    ratios.push_back(rate(ours, ours.round_seconds[r]) / rate(rival, rival.round_seconds[other]));
  }
  return {&rival, median(ratios), *std::min_element(ratios.begin(), ratios.end()),
          *std::max_element(ratios.begin(), ratios.end())};
}

Ratio Outcome::against_best(const std::vector<std::string>& names) const {
  Ratio worst;
  if (!ours.timed()) return worst;
  for (const Timing& rival : rivals) {
    const std::string& name = rival.side.who.name;
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (!rival.timed() || !rival.right()) continue;
    const Ratio ratio = against(rival);
    if (!worst.rival || ratio.median < worst.median) worst = ratio;
  }
  return worst;
}

namespace {

/// Both sides of a comparison are timed by the same clock.
bool timed_in_cpu_time(const Side& ours, const std::vector<Side>& rivals,
                       const Settings& settings) {
  const auto one_thread = [](const Side& side) { return side.c.threads == 1; };
  return settings.cpu_time && one_thread(ours) &&
         std::all_of(rivals.begin(), rivals.end(), one_thread);
}

}  // namespace

Outcome hold_contest(const Side& ours, const std::vector<Side>& rivals, const Settings& asked) {
  Settings settings = asked;
  settings.cpu_time = timed_in_cpu_time(ours, rivals, asked);
  Outcome outcome;
  outcome.cpu_time = settings.cpu_time;
  outcome.ours.side = ours;
  outcome.rivals.resize(rivals.size());
  Inputs inputs;
  std::vector<Runner> runners;
  const auto enter = [&](const Side& side, Timing& timing) {
    timing.side = side;
    const bool is_itself =
        !runners.empty() && side.who.name == ours.who.name && share_memory(side.c, ours.c);
    runners.push_back({is_itself
                           ? runners[0].process
                           : std::make_shared<Process>(side.who, inputs.descriptor_for(side.c)),
                       &timing});
    if (runners.back().process) try_out(runners.back(), settings);
  };
  enter(ours, outcome.ours);
  for (size_t i = 0; i < rivals.size(); ++i) enter(rivals[i], outcome.rivals[i]);
  if (!runners[0].process) return outcome;
  drop_hopeless(runners, settings);
  for (int round = 0; round < settings.rounds; ++round)
    for (const std::vector<Runner*>& turns : by_process(runners)) run_round(turns, settings);
  return outcome;
}

}  // namespace chol::bench
