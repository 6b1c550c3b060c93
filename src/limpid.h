#pragma once
// The whole library.

#include "base/error.h"
#include "base/parallel.h"
#include "tensor/matrix.h"
