#pragma once
// What can be asked about a model's inside, one function per route: from a request to its answer. No HTTP here.

#include "server/inspect_call.h"

namespace limpid {

using InspectView = InspectCall::Answer (*)(InspectCall& call);

// inspect_model.cpp: what the model is
InspectCall::Answer view_model(InspectCall& call);
InspectCall::Answer view_taps(InspectCall& call);
InspectCall::Answer view_tokens(InspectCall& call);
InspectCall::Answer view_pieces(InspectCall& call);
// inspect_weights.cpp
InspectCall::Answer view_parameters(InspectCall& call);
InspectCall::Answer view_weight(InspectCall& call);
// inspect_embedding.cpp
InspectCall::Answer view_embedding(InspectCall& call);
InspectCall::Answer view_positions(InspectCall& call);
// inspect_capture.cpp: values of taps
InspectCall::Answer view_capture(InspectCall& call);
InspectCall::Answer view_norms(InspectCall& call);
// inspect_attention.cpp
InspectCall::Answer view_heads(InspectCall& call);
InspectCall::Answer view_attention(InspectCall& call);
InspectCall::Answer view_head_statistics(InspectCall& call);
InspectCall::Answer view_alignment(InspectCall& call);
// inspect_neurons.cpp
InspectCall::Answer view_neurons(InspectCall& call);
InspectCall::Answer view_neuron(InspectCall& call);
// inspect_residual.cpp
InspectCall::Answer view_lens(InspectCall& call);
InspectCall::Answer view_attribution(InspectCall& call);
InspectCall::Answer view_trace(InspectCall& call);
InspectCall::Answer view_gradient(InspectCall& call);
// inspect_output.cpp
InspectCall::Answer view_output(InspectCall& call);
InspectCall::Answer view_generate(InspectCall& call);
InspectCall::Answer view_beam(InspectCall& call);
InspectCall::Answer view_intervene(InspectCall& call);
InspectCall::Answer view_interventions(InspectCall& call);

struct InspectRoute {
  const char* name;  // of /inspect/NAME
  InspectView view;
  const char* summary;
  const char* fields = "";  // besides those of every request (server/router.h says how they are written)
  bool tensors = false;     // it may answer with a safetensors body
  bool get = false;         // asked by GET too, with ?model=
};
const std::vector<InspectRoute>& inspect_views();

}  // namespace limpid
