#pragma once

#include "inspector/tui/input/keys.h"

#include <cwchar>
#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace schedscope::tui {

/// A key or a mouse event.
struct Input {
    enum class Kind : uint8_t {
        none,
        key,
        click,
        release,
        wheel_up,
        wheel_down,
        answer,
        restyled
    }; ///< restyled: colours are others now
    Kind kind = Kind::none;
    Key key = key_none;
    int row = 0, col = 0; ///< of a mouse event
};

/// Tells the bytes that a terminal sends apart into keys, mouse events and answers, however they are cut into pieces. A key may
/// be a sequence, and the Escape key alone is the beginning of all of them: what the bytes so far may still become is told by
/// `waits_for`, and how long to wait is for others to decide. Knows no terminal and no clock.
class KeyDecoder {
public:
    /// A key of this terminal. Those that nearly all terminals send are known.
    void learn(std::string_view sequence, Key key);
    /// From now on "ESC ] 11 ; rgb:… ESC \" (or BEL) is the answer to a question.
    void expect_answer() noexcept { asked_ = true; }

    void take(std::string_view bytes) { bytes_ += bytes; }
    /// Among those that were not told apart yet.
    bool has_byte(char byte) const noexcept { return bytes_.find(byte) != std::string::npos; }
    /// The next one that is complete; none: nothing is, yet. A sequence without a meaning is passed over as a whole.
    Input next();
    /// Of the last answer: "rgb:0000/0000/0000".
    const std::string& answer() const noexcept { return answer_; }

    /// What the bytes are that `next` has left, after it found nothing.
    enum class Rest : uint8_t {
        nothing,  ///< there are none, or the beginning of a character, which may wait
        escape,   ///< the Escape key, or the beginning of a sequence
        sequence, ///< the beginning of a sequence: people don't type that
    };
    Rest waits_for() const noexcept;
    /// No more comes of it: the Escape key was meant; of a sequence, nothing.
    void give_up();

private:
    enum class SequenceFound : uint8_t { key, nothing, more };
    SequenceFound sequence(Input& input);
    SequenceFound control_sequence(Input& input);
    SequenceFound answer_sequence(Input& input);
    bool character(Input& input);
    SequenceFound drop(size_t n, SequenceFound found);

    std::map<std::string, Key, std::less<>> known_;
    std::string bytes_;          ///< that were not yet told apart
    std::deque<Input> ready_;    ///< that were given up
    std::mbstate_t character_{}; ///< the bytes of a character whose rest has not come yet
    bool within_character_ = false;
    bool asked_ = false;
    std::string answer_;
};

} // namespace schedscope::tui
