#pragma once
// All commands, one file per command. Only main.cpp and first_look.cpp read this, so that a new command compiles
// nothing but itself.

namespace limpid {

int run_demo(int argc, char** argv);
int run_verify(int argc, char** argv);
int run_params(int argc, char** argv);
int run_models(int argc, char** argv);
int run_plan(int argc, char** argv);
int run_train(int argc, char** argv);
int run_data(int argc, char** argv);
int run_evaluate(int argc, char** argv);
int run_translate(int argc, char** argv);
int run_complete(int argc, char** argv);
int run_chat(int argc, char** argv);
int run_embed(int argc, char** argv);
int run_score(int argc, char** argv);
int run_classify(int argc, char** argv);
int run_tokenize(int argc, char** argv);
int run_look(int argc, char** argv);
int run_quantize(int argc, char** argv);
int run_superposition(int argc, char** argv);
int run_sae(int argc, char** argv);
int run_induction(int argc, char** argv);
int run_experiment_command(int argc, char** argv);
int run_random(int argc, char** argv);
int run_serve(int argc, char** argv);
int run_bench(int argc, char** argv);
int run_recipes(int argc, char** argv);
int run_get(int argc, char** argv);
int run_log(int argc, char** argv);
int run_info(int argc, char** argv);
int run_export(int argc, char** argv);

}  // namespace limpid
