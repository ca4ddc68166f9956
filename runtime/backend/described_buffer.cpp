#include "runtime/backend/described_buffer.h"

#include "runtime/error.h"

#include <string>

namespace schedscope {

void DescribedBuffer::refuse() const {
    throw Error(ErrorKind::usage, std::string(type_.name()) + " buffer: it was only described, it holds no data");
}

} // namespace schedscope
