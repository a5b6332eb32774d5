// How fast a backend factors, as data: what an offload weighs.
#pragma once

#include "tune/plan.hpp"
