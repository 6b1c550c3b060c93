#pragma once
// The library in one include: open a model, use it with texts, look inside, change what goes on there, train. Every
// header named here, or that one of these includes, may also be included by itself. docs/library.md says what may be
// shared by threads and how long things must live.

#include "autograd/ops.h"
#include "autograd/probe.h"
#include "autograd/run.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "formats/model_folder.h"
#include "inference/texts.h"
#include "inspect/capture.h"
#include "inspect/effect.h"
#include "inspect/intervention.h"
#include "inspect/session.h"
#include "models/encoder.h"
#include "models/language_model.h"
#include "models/model.h"
#include "models/rnn_seq2seq.h"
#include "models/seq2seq.h"
#include "training/optimizer.h"
#include "training/trainer.h"
