#pragma once

#include "runtime/gguf/gguf.h"

#include <cstdint>
#include <string>
#include <vector>

class FuzzedDataProvider;

namespace schedscope::fuzz {

/// A GGUF file taken apart, so that any part of it can be made wrong while the rest stays sound: it is put together again as if
/// the part had been meant.
class EditedGguf {
public:
    explicit EditedGguf(const gguf::File& sound);

    /// A list of edits, up to the input's end or the most that there may be. Each is an operation (1 byte), which key or tensor
    /// (1 byte), then what that asks for:
    ///
    ///     a value's type and what it becomes; an element of an array; extents, with or without the bytes for them; names and
    ///     bytes; or bytes of the whole file
    void edit(FuzzedDataProvider& input);
    /// The file.
    std::vector<std::byte> bytes() const;

    /// Cuts a vocabulary of which only the first n tokens are kept, and the rows of the weights that have one for each token.
    void keep_tokens(size_t n);
    void set_strings(const std::string& key, std::vector<std::string> values);
    void set_string(const std::string& key, std::string value);
    void remove(const std::string& key);
    void add_tensor(const std::string& name, Type type, std::vector<uint64_t> ne); ///< with bytes that follow no pattern
    const std::string& string(const std::string& key) const;

private:
    struct Key {
        std::string name;
        gguf::ValueType type = gguf::ValueType::u8, element = gguf::ValueType::u8;
        uint64_t count = 1;
        std::string bytes;                ///< unless it holds strings
        std::vector<std::string> strings; ///< one, or an array's
        bool has_strings() const noexcept;
    };
    struct Tensor {
        std::string name;
        std::vector<uint64_t> ne;
        uint32_t type = 0;
        std::string data;
        uint64_t moved_by = 0; ///< from where its data lies
    };
    struct Patch {
        uint16_t at;
        std::string bytes;
    };

    void edit_key(Key& key, FuzzedDataProvider& input);
    void edit_array(Key& key, FuzzedDataProvider& input);
    void edit_tensor(Tensor& tensor, FuzzedDataProvider& input);
    Key& key(const std::string& name);

    uint32_t version_ = 3;
    uint64_t more_keys_ = 0, more_tensors_ = 0; ///< than there are, in the header
    std::vector<Key> keys_;
    std::vector<Tensor> tensors_;
    std::vector<Patch> patches_;
    int cut_ = 0; ///< 256ths of the file that are missing at its end
};

} // namespace schedscope::fuzz
