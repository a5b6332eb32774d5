// Drops each wait of an operation in turn, to test that the simulated devices detect it.
#pragma once

#include <gtest/gtest.h>

namespace chol::test {

struct DroppedWaits {
  int found = 0;   ///< dropped waits that were detected
  int needed = 0;  ///< waits that are not redundant
};

/// @param make returns a pointer to a setting with all preparations done. @param work
/// work(setting), whose waits are dropped.
template <class Make, class Work>
DroppedWaits drop_each_wait(Make&& make, Work&& work) {
  DroppedWaits all;
  int waits = 1;
  for (int dropped = 0; dropped < waits; ++dropped) {
    const auto setting = make();
    auto& machine = setting->machine;
    const int before = machine.waits;
    machine.dropped = before + dropped;
    work(*setting);
    waits = machine.waits - before;
    const bool is_found = machine.races > 0;
    all.found += is_found;
    all.needed += machine.dropped_one_mattered;
    EXPECT_LE(is_found, machine.dropped_one_mattered) << "wait " << dropped;
  }
  return all;
}

}  // namespace chol::test
