#include "traces/store/model_rows.h"

#include "traces/store/reading/trace_rows.h"

namespace schedscope {

namespace {

using Element = std::variant<int64_t, double, std::string>;

void bind(HashedInsert& row, int column, int64_t value) { row.bind(column, value); }
void bind(HashedInsert& row, int column, double value) { row.bind(column, value); }
void bind(HashedInsert& row, int column, const std::string& value) { row.bind_text(column, value); }

Element element_of(const sqlite::Statement& row, int column, KeptBytes& kept) {
    if (const auto integer = row.as_integer(column)) {
        return *integer;
    }
    return row.has_bytes(column) ? Element(kept.text(row, column, "a value of a model")) : Element(row.real(column));
}

/// The header of a model whose number stands in a row: they come in order, none is left out.
ModelHeader& header_at(std::vector<ModelHeader>& models, const sqlite::Statement& row) {
    const int64_t n = std::ssize(models);
    const int64_t model = take(row, 0, std::max<int64_t>(n - 1, 0), n, "the number of a model");
    return model == n ? models.emplace_back() : models.back();
}

void read_values(sqlite::Database& database, KeptBytes& kept, std::vector<ModelHeader>& models) {
    sqlite::Statement rows(database,
                           "SELECT model, position, idx, key, type, value FROM model_value ORDER BY model, position, idx");
    while (rows.step()) {
        std::vector<ModelHeader::Value>& values = header_at(models, rows).values;
        const int64_t n = std::ssize(values);
        const int64_t position = take(rows, 1, std::max<int64_t>(n - 1, 0), n, "the position of a model's value");
        if (position == n) {
            values.push_back({kept.text(rows, 3, "a model's key"), kept.text(rows, 4, "the type of a model's value"), {}});
        }
        auto& elements = values.back().elements;
        take(rows, 2, std::ssize(elements), std::ssize(elements), "the index of a model's value");
        elements.push_back(element_of(rows, 5, kept));
    }
}

void read_tensors(sqlite::Database& database, KeptBytes& kept, std::vector<ModelHeader>& models) {
    sqlite::Statement rows(
        database, "SELECT model, position, name, type, ne0, ne1, ne2, ne3, bytes FROM model_tensor ORDER BY model, position");
    while (rows.step()) {
        const int64_t model = take(rows, 0, 0, std::ssize(models) - 1, "the model of a tensor");
        std::vector<ModelHeader::Tensor>& tensors = models[model].tensors;
        take(rows, 1, std::ssize(tensors), std::ssize(tensors), "the position of a model's tensor");
        ModelHeader::Tensor& t = tensors.emplace_back();
        t.name = kept.text(rows, 2, "the name of a model's tensor");
        t.type = take_word(rows, 3, "the type of a model's tensor", type_from_name);
        for (int d = 0; d < max_dims; ++d) {
            t.ne[d] = take(rows, 4 + d, 1, INT64_MAX, "an extent of a model's tensor");
        }
        t.bytes = take(rows, 8, 0, INT64_MAX, "the size of a model's tensor");
    }
}

} // namespace

void write_models(const std::vector<ModelHeader>& models, HashedInsert values, HashedInsert tensors) {
    for (size_t m = 0; m < models.size(); ++m) {
        for (size_t v = 0; v < models[m].values.size(); ++v) {
            const auto& [key, type, elements] = models[m].values[v];
            for (size_t i = 0; i < elements.size(); ++i) {
                values.bind(0, static_cast<int64_t>(m));
                values.bind(1, static_cast<int64_t>(v));
                values.bind(2, static_cast<int64_t>(i));
                values.bind_text(3, key);
                values.bind_text(4, type);
                std::visit([&](const auto& value) { bind(values, 5, value); }, elements[i]);
                values.run();
            }
        }
        for (size_t i = 0; i < models[m].tensors.size(); ++i) {
            const auto& [name, type, ne, bytes] = models[m].tensors[i];
            tensors.bind(0, static_cast<int64_t>(m));
            tensors.bind(1, static_cast<int64_t>(i));
            tensors.bind_text(2, name);
            tensors.bind_text(3, type_name(type));
            for (int d = 0; d < max_dims; ++d) {
                tensors.bind(4 + d, ne[d]);
            }
            tensors.bind(8, bytes);
            tensors.run();
        }
    }
}

std::shared_ptr<const std::vector<ModelHeader>> read_models(sqlite::Database& database, KeptBytes& kept) {
    std::vector<ModelHeader> models;
    read_values(database, kept, models);
    read_tensors(database, kept, models);
    return models.empty() ? nullptr : std::make_shared<const std::vector<ModelHeader>>(std::move(models));
}

} // namespace schedscope
