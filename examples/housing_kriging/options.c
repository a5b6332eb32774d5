#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "lapack_peer.h"
#include "progress.h"

static const char kHelp[] =
    "Usage: housing_kriging [OPTION]... FILE.csv\n"
    "Holds back some census blocks, predicts their house values from the blocks around each by\n"
    "local kriging, all systems in one batch, and compares with what is known.\n"
    "FILE.csv has the columns longitude, latitude, median_income, median_house_value.\n\n"
    "  -s, --share=S        share of the blocks to hold back (default 0.2)\n"
    "      --seed=N         which ones (default 1)\n"
    "  -d, --drift=KIND     local mean: 'constant' (ordinary kriging) or 'income', linear in the\n"
    "                       log income (kriging with external drift; default)\n"
    "  -r, --radius=KM      neighbours are taken from within this distance (default 4) ...\n"
    "      --fewest=N       ... which grows until there are N (default 16) ...\n"
    "      --most=N         ... and of more than N the nearest are taken (default 128)\n"
    "      --range=KM       of the exponential correlation (default: fitted)\n"
    "      --nugget=V       share of the variance that is local, 0 to 1 (default: fitted)\n"
    "      --sample=N       neighbourhoods that the fit looks at (default 200)\n"
    "  -m, --map=FILE       draw the predictions by gnuplot, FILE ends in .png or .svg\n"
    "      --repeat=N       timed runs, the median counts (default 3)\n"
    "      --no-lapack      leave out the comparison with LAPACK\n"
    "  -t, --threads=N      threads of chol (default: its own)\n"
    "  -h, --help           this text\n\n" EXIT_CODE_HELP;

enum { kSeed = 256, kFewest, kMost, kRange, kNugget, kSample, kRepeat, kNoLapack };

static const struct option kOptions[] = {{"share", required_argument, NULL, 's'},
                                         {"seed", required_argument, NULL, kSeed},
                                         {"drift", required_argument, NULL, 'd'},
                                         {"radius", required_argument, NULL, 'r'},
                                         {"fewest", required_argument, NULL, kFewest},
                                         {"most", required_argument, NULL, kMost},
                                         {"range", required_argument, NULL, kRange},
                                         {"nugget", required_argument, NULL, kNugget},
                                         {"sample", required_argument, NULL, kSample},
                                         {"map", required_argument, NULL, 'm'},
                                         {"repeat", required_argument, NULL, kRepeat},
                                         {"no-lapack", no_argument, NULL, kNoLapack},
                                         {"threads", required_argument, NULL, 't'},
                                         {"help", no_argument, NULL, 'h'},
                                         {NULL, 0, NULL, 0}};

static bool parse_drift(options_t* options, failure_t* failure) {
  options->model.income = strcmp(optarg, "income") == 0;
  return options->model.income || strcmp(optarg, "constant") == 0 ||
         fail(failure, kExitUsage, "--drift = '%s', must be 'constant' or 'income'", optarg);
}

static bool parse_map(options_t* options, failure_t* failure) {
  const char* dot = strrchr(optarg, '.');
  options->map = optarg;
  return (dot && (strcmp(dot, ".png") == 0 || strcmp(dot, ".svg") == 0)) ||
         fail(failure, kExitUsage, "--map = '%s', must end in .png or .svg", optarg);
}

static bool parse_one(int option, options_t* o, failure_t* failure) {
  long number = 0;
  bool good;
  switch (option) {
    case 's':
      return parse_real("share", optarg, 0.001, 0.999, &o->share, failure);
    case 'd':
      return parse_drift(o, failure);
    case 'r':
      return parse_real("radius", optarg, 0.01, 20000, &o->reach.radius, failure);
    case kRange:
      return parse_real("range", optarg, 1e-6, 1e6, &o->model.range, failure);
    case kNugget:
      return parse_real("nugget", optarg, 1e-300, 1, &o->model.nugget, failure);
    case 'm':
      return parse_map(o, failure);
    case kSeed:
      good = parse_integer("seed", optarg, 0, 1000000000, &number, failure);
      o->seed = (uint64_t)number;
      return good;
    case kFewest:
      good = parse_integer("fewest", optarg, 3, 4096, &number, failure);
      o->reach.fewest = number;
      return good;
    case kMost:
      good = parse_integer("most", optarg, 3, 4096, &number, failure);
      o->reach.most = number;
      return good;
    case kSample:
      good = parse_integer("sample", optarg, 1, 100000, &number, failure);
      o->sample = number;
      return good;
    case kRepeat:
      good = parse_integer("repeat", optarg, 1, kMostRepeats, &number, failure);
      o->repeat = number;
      return good;
    case 't':
      good = parse_integer("threads", optarg, 1, 4096, &number, failure);
      o->threads = (int)number;
      return good;
    case kNoLapack:
      o->lapack = false;
      return true;
    default:
      return fail(failure, kExitUsage, "try 'housing_kriging --help'");
  }
}

bool options_parse(int argc, char** argv, options_t* options, bool* help, failure_t* failure) {
  *options = (options_t){.share = 0.2,
                         .seed = 1,
                         .reach = {.radius = 4, .fewest = 16, .most = 128},
                         .model = {.income = true},
                         .sample = 200,
                         .repeat = 3,
                         .lapack = lapack_available()};
  *help = false;
  for (int c; (c = getopt_long(argc, argv, "s:d:r:m:t:h", kOptions, NULL)) != -1;) {
    if (c == 'h') {
      fputs(kHelp, stdout);
      *help = true;
      return true;
    }
    if (!parse_one(c, options, failure)) return false;
  }
  if (optind != argc - 1) {
    return fail(failure, kExitUsage, "%s; try 'housing_kriging --help'",
                optind == argc ? "no file given" : "more than one file given");
  }
  if (options->reach.fewest > options->reach.most) {
    return fail(failure, kExitUsage, "--fewest = %lld, must be at most --most = %lld",
                (long long)options->reach.fewest, (long long)options->reach.most);
  }
  options->file = argv[optind];
  return true;
}
