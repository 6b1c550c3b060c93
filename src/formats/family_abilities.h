#pragma once
// What can be done with a family of models: the columns of docs/models.md, each of which a test tries on a small model.

#include "models/family_table.h"

namespace limpid {

FamilyAbilities family_abilities(std::string_view model_type);

}  // namespace limpid
