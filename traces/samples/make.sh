#!/bin/sh
# Records the samples again: small runs of made-up models, one of each kind.
#   sh traces/samples/make.sh [PROGRAM]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/../../build/release/bin/schedscope}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" synth llama --preset tiny -o "$work/tiny.gguf"
"$program" synth llama --preset tiny-moe --type q8_0 -o "$work/tiny-moe.gguf"
"$program" synth llava --preset tiny-1.6 -o "$work/eye.gguf"
# A picture of 150 × 100 pixels: a sky over a meadow.
{
    printf 'P6 150 100 255\n'
    for colour in '\207\316\353' '\174\374\000'; do
        i=0
        while [ $i -lt 7500 ]; do
            printf "$colour"
            i=$((i + 1))
        done
    done
} > "$work/meadow.ppm"

prompt=1,300,301,302,303,304,305,306,307,308,309,310,311,312,313,314,315,316,317,318,319,320
prompt=$prompt,321,322,323,324,325,326,327,328,329,330,331,332,333,334,335,336,337,338
long_prompt=$prompt # 40 tokens
for i in 1 2 3 4; do
    long_prompt=$long_prompt,${long_prompt#1,}
done
record() {
    name=$1
    shift
    "$program" record -n 4 -s 1 --ignore-eos --kernel-times kernels "$@" -o "$here/$name.trace" > "$work/out"
}
record all-cpu -c 256 -ub 64 -m "$work/tiny.gguf" --tokens $prompt --temp 0 --device cpu
record partial-offload -c 256 -ub 64 -m "$work/tiny.gguf" --tokens $prompt --temp 0 --device vulkan0,cpu -ngl 3
record experts-offload -c 256 -ub 64 -m "$work/tiny-moe.gguf" --tokens $prompt --temp 0 --device vulkan0,cpu -ngl 99 \
    -ot 'ffn_.*_exps=CPU' --offload-min-batch 1
record llava-1.6 -c 2048 -ub 64 -m "$work/tiny.gguf" --mmproj "$work/eye.gguf" --image "$work/meadow.ppm" \
    -p 'What is there?' --temp 0 --device vulkan0,cpu
record mixed-sampling -c 256 -ub 64 -m "$work/tiny.gguf" --device vulkan0,cpu -bs \
    --seq '0:Once upon a time' --seq '1:There was' --seq '2:The end' \
    --sampler '0:greedy' --sampler '1:top_k=40;temp=0.8;dist' --sampler '2:cpu:top_k=40;temp=0.8;dist'
# llama.cpp v0.5.0 itself, half offloaded, where tests/support/ggml/fixtures.sh has installed it.
build=${SCHEDSCOPE_FIXTURES:-/var/cache/schedscope-fixtures}/3.22.1
model=$here/../../../shared/models/stories260K-f32.gguf
if [ -e "$build/complete" ] && [ -e "$model" ]; then
    GGML_VK_VISIBLE_DEVICES=0 "$program" record --no-text --force -o "$here/llama-cpp.trace" -- node \
        "$here/../../tests/support/ggml/drive.mjs" "$build" "$model" --gpu vulkan --layers 3 --tokens 3 --prompt "$prompt" > "$work/out"
fi
# What its CPU and Vulkan answer, for --device NAME=from:profiles.trace/Vulkan0: many types and operators, and of each run no more
# than planned memory, and the last evaluation.
models=$here/../../../shared/models
several=$models/stories260K-f32.gguf
for name in stories260K-f16 stories260K-q8_0 stories260K-q4_0 arch/llama-rope-llama3/model arch/llama-moe/model arch/falcon7b/model \
    arch/gemma2-default-caps/model arch/qwen2/model; do
    several=$several,$models/$name.gguf
done
if [ -e "$build/complete" ] && [ -e "$model" ]; then
    GGML_VK_VISIBLE_DEVICES=0 "$program" record --no-text --force --last 1 -o "$here/profiles.trace" -- node \
        "$here/../../tests/support/ggml/drive.mjs" "$build" "$several" --gpu vulkan --layers 3 --tokens 2 --both \
        --prompt 1,20,21,22,23,24,25,26 > "$work/out"
fi
record pipeline -m "$work/tiny.gguf" -c 1024 -ub 256 --tokens "$long_prompt" --temp 0 --device vulkan0,vulkan0,cpu --stages 4
