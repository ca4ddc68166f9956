// Generates with the addon of @fugood/llama.node, as any user's program would: a fork of llama.cpp, linked into one file at link
// time.
//
//     node drive_static.mjs FOLDER MODEL [TOKENS]
//
// FOLDER: where npm installed it (fixtures.sh). Prints the text that follows.
import {createRequire} from "node:module";
import path from "node:path";

const [folder, model, tokens] = process.argv.slice(2);
const {loadModel} = createRequire(path.join(folder, "package.json"))("@fugood/llama.node");
const context = await loadModel({model: path.resolve(model), n_ctx: 256, n_batch: 64, n_gpu_layers: 0, n_threads: 2, use_mmap: true});
const {text} = await context.completion({prompt: "Once upon a time", n_predict: Number(tokens ?? 20), temperature: 0, seed: 1});
console.log(JSON.stringify(text));
await context.release();
