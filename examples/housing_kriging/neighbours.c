#include "neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

typedef struct {
  double distance;
  int64_t index;
} candidate_t;

/* Cells of the same extent in degrees, at least `cell` km wide everywhere: points within k *
   cell of a point are within k cells of its cell. Blocks are listed cell by cell. */
typedef struct {
  const block_t* blocks;
  double south, west, per_latitude, per_longitude; /* origin, cells per degree */
  double cell;                                     /* km */
  int64_t rows, columns;
  int64_t *first, *member; /* rows * columns + 1 places in member */
  candidate_t* candidates; /* room for every block */
} grid_t;

static int64_t cell_of(double coordinate, double origin, double per_degree, int64_t cells) {
  double place = floor((coordinate - origin) * per_degree);
  if (place < 0) return 0;
  return place < (double)cells ? (int64_t)place : cells - 1;
}

static int64_t grid_cell(const grid_t* grid, const block_t* block) {
  return cell_of(block->latitude, grid->south, grid->per_latitude, grid->rows) * grid->columns +
         cell_of(block->longitude, grid->west, grid->per_longitude, grid->columns);
}

static void grid_size(const housing_t* housing, double cell, grid_t* grid) {
  const double kKmPerDegree = 111.19; /* of a great circle, rounded down */
  double south = 90, north = -90, west = 180, east = -180;
  for (int64_t i = 0; i < housing->training + housing->held_out; ++i) {
    const block_t* block = &housing->blocks[i];
    south = fmin(south, block->latitude);
    north = fmax(north, block->latitude);
    west = fmin(west, block->longitude);
    east = fmax(east, block->longitude);
  }
  /* A degree of longitude is shortest where the latitude is largest. */
  double shortest = cos(fmin(fmax(fabs(south), fabs(north)), 89.0) * 0.017453292519943295);
  grid->south = south;
  grid->west = west;
  grid->cell = cell;
  /* No more cells than make sense for the number of blocks, however small the radius. */
  const double kMostCells = 2048;
  grid->per_latitude = fmin(kKmPerDegree / cell, kMostCells / fmax(north - south, 1e-9));
  grid->per_longitude = fmin(kKmPerDegree * shortest / cell, kMostCells / fmax(east - west, 1e-9));
  grid->rows = (int64_t)((north - south) * grid->per_latitude) + 1;
  grid->columns = (int64_t)((east - west) * grid->per_longitude) + 1;
}

static bool grid_create(const housing_t* housing, double cell, grid_t* grid, failure_t* failure) {
  grid->blocks = housing->blocks;
  grid_size(housing, cell, grid);
  size_t training = (size_t)housing->training;
  size_t cells = (size_t)(grid->rows * grid->columns);
  grid->first = calloc(cells + 2, sizeof(int64_t));
  grid->member = malloc(training * sizeof(int64_t));
  grid->candidates = malloc(training * sizeof(candidate_t));
  if (!grid->first || !grid->member || !grid->candidates) {
    return fail(failure, kExitLibrary, "no memory for a grid of %zu cells", cells);
  }
  /* Counting sort; shifted by one, so that filling the cells leaves `first` correct. */
  int64_t* next = grid->first + 1;
  for (int64_t i = 0; i < housing->training; ++i) next[grid_cell(grid, &grid->blocks[i]) + 1]++;
  for (size_t c = 0; c < cells; ++c) next[c + 1] += next[c];
  for (int64_t i = 0; i < housing->training; ++i) {
    grid->member[next[grid_cell(grid, &grid->blocks[i])]++] = i;
  }
  return true;
}

static void grid_free(grid_t* grid) {
  free(grid->first);
  free(grid->member);
  free(grid->candidates);
}

/* The training blocks within the radius, in any order; returns their number. */
static int64_t within(const grid_t* grid, const block_t* centre, double radius) {
  int64_t cells = (int64_t)fmin(ceil(radius / grid->cell), 1e6), count = 0;
  int64_t row = cell_of(centre->latitude, grid->south, grid->per_latitude, grid->rows);
  int64_t column = cell_of(centre->longitude, grid->west, grid->per_longitude, grid->columns);
  for (int64_t r = row > cells ? row - cells : 0; r <= row + cells && r < grid->rows; ++r) {
    int64_t begin = column > cells ? column - cells : 0;
    int64_t end = column + cells < grid->columns ? column + cells + 1 : grid->columns;
    int64_t last = grid->first[r * grid->columns + end];
    for (int64_t m = grid->first[r * grid->columns + begin]; m < last; ++m) {
      int64_t index = grid->member[m];
      double distance = block_distance(centre, &grid->blocks[index]);
      if (distance <= radius) grid->candidates[count++] = (candidate_t){distance, index};
    }
  }
  return count;
}

static int nearer(const void* left, const void* right) {
  const candidate_t *a = left, *b = right;
  if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

static int64_t collect(const grid_t* grid, const block_t* centre, const reach_t* reach,
                       int64_t training, int64_t* index) {
  int64_t fewest = reach->fewest < training ? reach->fewest : training;
  double radius = reach->radius;
  int64_t count = within(grid, centre, radius);
  while (count < fewest) count = within(grid, centre, radius *= 2);
  qsort(grid->candidates, (size_t)count, sizeof(candidate_t), nearer);
  if (count > reach->most) count = reach->most;
  for (int64_t i = 0; i < count; ++i) index[i] = grid->candidates[i].index;
  return count;
}

bool neighbourhoods_find(const housing_t* housing, const block_t* centres, int64_t count,
                         int64_t step, const reach_t* reach, neighbourhoods_t* found,
                         failure_t* failure) {
  grid_t grid = {0};
  int64_t most = reach->most < housing->training ? reach->most : housing->training;
  *found = (neighbourhoods_t){.count = count};
  found->centre = malloc((size_t)count * sizeof(block_t*));
  found->first = calloc((size_t)count + 1, sizeof(int64_t));
  found->index = malloc((size_t)(count * most) * sizeof(int64_t));
  bool done = found->centre && found->first && found->index;
  if (!done) fail(failure, kExitLibrary, "no memory for %lld neighbourhoods", (long long)count);
  done = done && grid_create(housing, reach->radius, &grid, failure);
  progress_t progress = progress_begin("finding neighbours", count);
  for (int64_t k = 0; done && k < count; ++k) {
    found->centre[k] = centres + k * step;
    found->first[k + 1] =
        found->first[k] +
        collect(&grid, found->centre[k], reach, housing->training, found->index + found->first[k]);
    progress_step(&progress, k);
  }
  progress_end(&progress);
  grid_free(&grid);
  return done;
}

void neighbourhoods_free(neighbourhoods_t* found) {
  free(found->centre);
  free(found->first);
  free(found->index);
}

int64_t neighbourhood_size(const neighbourhoods_t* found, int64_t k) {
  return found->first[k + 1] - found->first[k];
}
