#pragma once
// The library in one include: build or open a model, run, train and probe it. Every header that is named here, or that
// one of these includes, may also be included by itself.

#include "autograd/probe.h"
#include "autograd/run.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "formats/model_folder.h"
#include "models/encoder.h"
#include "models/language_model.h"
#include "models/model.h"
#include "models/rnn_seq2seq.h"
#include "models/seq2seq.h"
#include "tensor/matrix.h"
#include "training/optimizer.h"
