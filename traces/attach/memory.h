#pragma once

#include <new>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Memory and locks of a library that lives within other people's programs: mapped pages of its own, so that nothing of the
/// program's allocator is used, and no lock is held while the program's own code runs.
namespace schedscope::attach {

/// Bytes that grow. A failed growth leaves them as they were.
class Bytes {
public:
    Bytes() = default;
    ~Bytes();
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;

    char* data() const { return data_; }
    size_t size() const { return size_; }
    bool reserve(size_t bytes); ///< at least so many; false: there is no memory
    char* release();            ///< they stay for good

private:
    char* data_ = nullptr;
    size_t size_ = 0;
};

/// An object that nothing destroys, because the program may still call while it ends. Null: there is no memory.
template <typename T> T* make_lasting() {
    Bytes bytes;
    return bytes.reserve(sizeof(T)) ? new (static_cast<void*>(bytes.release())) T() : nullptr;
}

/// A list of what can be copied byte by byte.
template <typename T> class List {
public:
    int size() const { return n_; }
    T& operator[](int i) const { return reinterpret_cast<T*>(bytes_.data())[i]; }
    T* begin() const { return reinterpret_cast<T*>(bytes_.data()); }
    T* end() const { return begin() + n_; }
    void clear() { n_ = 0; }
    void shorten(int n) { n_ = n < n_ ? n : n_; }
    /// False: there is no memory, and the list is as it was.
    bool add(const T& value) {
        if (!bytes_.reserve((static_cast<size_t>(n_) + 1) * sizeof(T))) {
            return false;
        }
        memcpy(static_cast<void*>(begin() + n_), &value, sizeof(T));
        ++n_;
        return true;
    }
    /// One more, whose bytes are whatever they were. Null: there is no memory.
    T* add_unset() {
        if (!bytes_.reserve((static_cast<size_t>(n_) + 1) * sizeof(T))) {
            return nullptr;
        }
        return begin() + n_++;
    }
    bool resize(int n, const T& value) {
        if (!bytes_.reserve(static_cast<size_t>(n) * sizeof(T))) {
            return false;
        }
        for (n_ = 0; n_ < n; ++n_) {
            begin()[n_] = value;
        }
        return true;
    }

private:
    Bytes bytes_;
    int n_ = 0;
};

/// Numbers by address.
class PointerMap {
public:
    bool clear(int n); ///< and makes room for n entries; false: there is no memory
    void put(const void* key, int32_t value) {
        if (key != nullptr) {
            *place(key) = {key, value, round_};
        }
    }
    int32_t find(const void* key) const { ///< −1: it is not there
        const Entry* const entry = key == nullptr || mask_ == 0 ? nullptr : place(key);
        return entry == nullptr || entry->round != round_ ? -1 : entry->value;
    }

private:
    struct Entry {
        const void* key;
        int32_t value;
        uint32_t round; ///< of another one: it is free
    };
    Entry* place(const void* key) const {
        auto* const entries = reinterpret_cast<Entry*>(bytes_.data());
        size_t at = static_cast<size_t>((reinterpret_cast<uintptr_t>(key) >> 4) * 0x9E3779B97F4A7C15U >> 20) & mask_;
        while (entries[at].round == round_ && entries[at].key != key) {
            at = (at + 1) & mask_;
        }
        return entries + at;
    }
    Bytes bytes_;
    size_t mask_ = 0;
    uint32_t round_ = 0; ///< of clear: what was put before is gone without a look at it
};

/// Held for a moment, by code of this library alone.
class Lock {
public:
    explicit Lock(uint32_t& word);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    uint32_t& word_;
};

int64_t now_ns();

} // namespace schedscope::attach
