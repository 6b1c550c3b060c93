#pragma once
// LibreTranslate's interface: /translate, /languages, /detect.

#include <map>

#include "server/languages.h"
#include "server/openai_call.h"
#include "server/server.h"

namespace limpid {

// `pairs`: languages by model id, for models whose id does not say them.
void add_libretranslate_routes(Server& server, const ServedModels& models,
                               std::map<std::string, LanguagePair> pairs = {}, const RequestLimits& limits = {});

}  // namespace limpid
