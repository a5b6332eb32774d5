#pragma once

#include "interleaved/kernels.hpp"
