#pragma once

#include <map>
#include <string>
#include <vector>

namespace schedscope {

/// The files that a command line names, each with its option: what is read must never be written over, and two results need two
/// files. Files are told apart by what they are, not by their names: a link is the file that it leads to. What is no regular file
/// (a device, a pipe) can be named more than once.
///
///     NamedFiles files;
///     files.reads_model("-m", model);
///     files.writes("--logits-out", logits);
///     files.check();
class NamedFiles {
public:
    // An empty path: the option was not given.
    void reads(const std::string& option, const std::string& path);
    void reads_model(const std::string& option, const std::string& path); ///< a GGUF file, with all parts of a split one
    void writes(const std::string& option, const std::string& path);

    /// Throws Error(usage) naming both options. Touches nothing.
    void check() const;

private:
    struct NamedFile {
        std::string option, path;
    };
    std::map<std::string, std::string> readers_; ///< option by identity
    std::vector<NamedFile> outputs_;
};

} // namespace schedscope
