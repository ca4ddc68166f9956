/* The graphs, by what they are odd in. Each is built once for each kind of scheduler that main.c gives it to. */
#pragma once

#include "calls.h"

/* passes.c: which backend runs what. */
void no_place(struct graph* g);
void weighty(struct graph* g);
void small_weights(struct graph* g);
void no_weights(struct graph* g);
void into_memory(struct graph* g);
void leaf_that_is_a_view(struct graph* g);
void view_before_its_source(struct graph* g);
void gap_of_what_is_not_supported(struct graph* g);
void weight_that_its_backend_cannot_use(struct graph* g);
void offloaded(struct graph* g);
void repacked(struct graph* g);

/* splits.c: where one begins. */
void many_inputs(struct graph* g);
void two_inputs_at_once(struct graph* g);
void weight_that_can_be_read(struct graph* g);

/* memory.c: which place each tensor gets. */
void places(struct graph* g);
void there_and_back(struct graph* g);
void input_that_is_no_leaf(struct graph* g);
void small_after_wide(struct graph* g);
void filled(struct graph* g);
void mixed_sizes(struct graph* g);
void sizes_by_round(struct graph* g);
