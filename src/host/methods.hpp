// The methods of the host backend and their knobs.
#pragma once

#include <climits>

#include "host/kernels/kernel_table.hpp"
#include "tune/choice.hpp"
#include "tune/row.hpp"

namespace chol::host {

namespace knobs {
inline constexpr Knob kFewRhs{
    "few_rhs", 0, INT_MAX,
    "solves of up to so many right-hand sides go one vector after the other"};
inline constexpr Knob kTileOrder{"nb", 0, 1 << 20,
                                 "rows and columns of a tile; 0: by order, threads and machine"};
inline constexpr Knob kLanes[] = {
    {"whole_groups_above", 0, int(kMostLaneOrder),
     "matrices of larger orders go through lanes in full groups only, the others of a batch one by "
     "one; 0: all go through lanes"}};
inline constexpr Knob kInterleavedLanes[] = {
    {"register_tile", 0, 4, "rows and columns of a register tile of potrf; 0: by the order"}};
inline constexpr Knob kPanel[] = {kFewRhs};
inline constexpr Knob kTiles[] = {kTileOrder, kFewRhs};
}  // namespace knobs

/// One SIMD lane a matrix of a batch, transposed in registers when loaded and stored.
inline constexpr MethodInfo kLanes{"lanes", knobs::kLanes};
inline constexpr int kWholeGroupsAbove = 0;
/// One SIMD lane a matrix of an interleaved batch, in place.
inline constexpr MethodInfo kInterleavedLanes{"interleaved_lanes", knobs::kInterleavedLanes};
inline constexpr int kRegisterTile = 0;
/// One core a matrix, left-looking over the whole matrix.
inline constexpr MethodInfo kPanel{"panel", knobs::kPanel};
/// Right-looking over tiles, spread over the threads; the updates by kernels of the library, or by
/// the BLAS that the library was built with.
inline constexpr MethodInfo kTiles{"tiles", knobs::kTiles};
inline constexpr MethodInfo kBlasTiles{"blas_tiles", knobs::kTiles};
inline constexpr int kTileOrder = 0;

inline constexpr const MethodInfo* kMethods[] = {&kLanes, &kInterleavedLanes, &kPanel, &kTiles,
                                                 &kBlasTiles};

inline bool by_tiles(const Choice& choice) { return choice.is(kTiles) || choice.is(kBlasTiles); }
/// The tile's order, 0 where the method has no tiles.
inline int tile_order(const Choice& choice) { return by_tiles(choice) ? choice.at(kTileOrder) : 0; }
/// Number of right-hand sides up to which they are solved one after the other.
inline int few_rhs(const Choice& choice) {
  return by_tiles(choice) ? choice.at(1) : choice.is(kPanel) ? choice.at(0) : 0;
}

/// Whether a row's method can handle all cases of the row, independent of the machine.
/// @param has_blas whether the build has products by a BLAS in the row's precision.
bool accepts(const Row& row, bool has_blas);

}  // namespace chol::host
