#include "housing.h"

#include <math.h>
#include <stdlib.h>

#include "csv.h"

static const double kEarthRadius = 6371.0088; /* km, mean radius of the WGS 84 ellipsoid */
static const double kDegree = 0.017453292519943295;

enum { kLongitude, kLatitude, kIncome, kValue, kColumns };

/* A number in [0, 1) from an index and a seed: the output function of SplitMix64 (Steele, Lea,
   Flood 2014), which needs no state, so that a block's fate depends on nothing else. */
static double hashed_uniform(uint64_t index, uint64_t seed) {
  uint64_t z = (index + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xd1b54a32d192ed03);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static block_t make_block(const double row[kColumns]) {
  block_t block = {.longitude = row[kLongitude],
                   .latitude = row[kLatitude],
                   .income = row[kIncome],
                   .value = row[kValue],
                   .log_income = log(row[kIncome]),
                   .log_value = log(row[kValue])};
  double east = block.longitude * kDegree, north = block.latitude * kDegree;
  block.position[0] = kEarthRadius * cos(north) * cos(east);
  block.position[1] = kEarthRadius * cos(north) * sin(east);
  block.position[2] = kEarthRadius * sin(north);
  return block;
}

static bool check_row(const char* path, int64_t index, const double row[kColumns],
                      failure_t* failure) {
  static const char* const kRule[kColumns] = {
      "longitude must be from -180 to 180", "latitude must be from -90 to 90",
      "median_income must be > 0", "median_house_value must be > 0"};
  const bool good[kColumns] = {fabs(row[kLongitude]) <= 180, fabs(row[kLatitude]) <= 90,
                               row[kIncome] > 0, row[kValue] > 0};
  for (int c = 0; c < kColumns; ++c) {
    if (good[c]) continue;
    return fail(failure, kExitBadInput, "%s: data row %lld: %g: %s", path, (long long)(index + 1),
                row[c], kRule[c]);
  }
  return true;
}

/* Fills blocks from both ends: training ones from the front, held-out ones from the back. */
static bool split(const char* path, int64_t rows, const double* values, double share, uint64_t seed,
                  housing_t* housing, failure_t* failure) {
  housing->blocks = malloc((size_t)rows * sizeof(block_t));
  if (!housing->blocks) return fail(failure, kExitLibrary, "no memory for %s", path);
  for (int64_t r = 0; r < rows; ++r) {
    const double* row = values + r * kColumns;
    if (!check_row(path, r, row, failure)) return false;
    bool held = hashed_uniform((uint64_t)r, seed) < share;
    int64_t place = held ? rows - ++housing->held_out : housing->training++;
    housing->blocks[place] = make_block(row);
  }
  if (housing->training > 0 && housing->held_out > 0) return true;
  return fail(failure, kExitBadInput, "%s: %lld rows, held-out share %g: %s is left", path,
              (long long)rows, share,
              housing->training > 0 ? "nothing to predict" : "nothing to predict from");
}

bool housing_read(const char* path, double share, uint64_t seed, housing_t* housing,
                  failure_t* failure) {
  static const char* const kNames[kColumns] = {"longitude", "latitude", "median_income",
                                               "median_house_value"};
  int64_t rows;
  double* values;
  *housing = (housing_t){0};
  if (!csv_read(path, kNames, kColumns, &rows, &values, failure)) return false;
  bool done = split(path, rows, values, share, seed, housing, failure);
  free(values);
  return done;
}

void housing_free(housing_t* housing) { free(housing->blocks); }

double block_distance(const block_t* a, const block_t* b) {
  double x = a->position[0] - b->position[0], y = a->position[1] - b->position[1],
         z = a->position[2] - b->position[2];
  return sqrt(x * x + y * y + z * z);
}
