#include "runtime/tensor/ops_build.h"

#include "runtime/error.h"

namespace schedscope::ops {

void refuse(Op op, const std::string& why) { throw Error(ErrorKind::usage, std::string(op_name(op)) + ": " + why); }

std::string described(const Tensor& t) { return "'" + t.name + "' " + std::string(type_name(t.type)) + " " + shape_text(t.ne); }

Tensor* make_result(Graph& g, Op op, Type type, const Shape& ne, std::initializer_list<Tensor*> sources) {
    Tensor* t = g.make(type, ne);
    t->op = op;
    size_t i = 0;
    for (Tensor* source : sources) {
        t->src[i++] = source;
    }
    return t;
}

Tensor* make_result(Graph& g, Op op, Type type, std::initializer_list<Tensor*> sources) {
    SourceShapes shapes{};
    size_t i = 0;
    for (const Tensor* source : sources) {
        if (i < shapes.size()) {
            shapes[i++] = source != nullptr ? &source->ne : nullptr;
        }
    }
    return make_result(g, op, type, traits(op).shape(shapes), sources);
}

Tensor* make_view(Graph& g, Op op, Tensor* a, size_t offset, std::string_view suffix, std::initializer_list<Tensor*> sources) {
    Tensor* t = make_result(g, op, a->type, a->ne, sources);
    Tensor* root = a->view_source != nullptr ? a->view_source : a;
    t->nb = a->nb;
    t->view_source = root;
    t->view_offset = a->view_offset + offset;
    t->buffer = root->buffer;
    t->offset = root->offset + t->view_offset;
    set_name(*t, a->name + std::string(suffix));
    return t;
}

void set_name(Tensor& t, std::string_view name) { t.name = name.substr(0, max_name); }

void require_type(Op op, const Tensor& t, Type wanted, const char* role) {
    if (t.type != wanted) {
        refuse(op, std::string(role) + " " + described(t) + " must be " + std::string(type_name(wanted)));
    }
}

void require_float(Op op, const Tensor& t) {
    if (!is_float(t.type)) {
        refuse(op, described(t) + " must be f32, f16 or bf16");
    }
}

void require_same_shape(Op op, const Tensor& a, const Tensor& b) {
    if (!same_shape(a, b)) {
        refuse(op, described(a) + " and " + described(b) + " differ in shape");
    }
}

} // namespace schedscope::ops
