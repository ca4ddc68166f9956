#pragma once

#include "runtime/planner/model_header.h"
#include "traces/store/hashed_rows.h"

#include <memory>
#include <vector>

/// The tables `model_value` and `model_tensor`.
namespace schedscope {

class KeptBytes;

void write_models(const std::vector<ModelHeader>& models, HashedInsert values, HashedInsert tensors);

/// Null: they are not known. Throws Damage.
std::shared_ptr<const std::vector<ModelHeader>> read_models(sqlite::Database& database, KeptBytes& kept);

} // namespace schedscope
