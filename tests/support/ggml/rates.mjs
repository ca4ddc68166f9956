// How fast a released build of llama.cpp is, measured through its npm client: what `schedscope bench --against` reads.
//
//     schedscope bench -m MODEL --against 'node rates.mjs FOLDER [--no-flash] [--gpu vulkan --layers N]'
//
// FOLDER: where npm installed node-llama-cpp and the binaries (fixtures.sh). The settings are the variables that bench sets:
// BENCH_MODEL, BENCH_PROMPT and BENCH_GEN (tokens; 0: none), BENCH_DEPTH (tokens in front of either), BENCH_THREADS. Each is run
// once before it is timed, as bench does. Prints {"prefill_tok_s":…,"decode_tok_s":…}.
import path from "node:path";
import {pathToFileURL} from "node:url";

const [folder, ...options] = process.argv.slice(2);
const option = (name, otherwise) => (options.includes(name) ? options[options.indexOf(name) + 1] : otherwise);
const setting = (name, otherwise) => {
    const value = Number(process.env[name] ?? otherwise);
    if (!Number.isInteger(value) || value < 0) {
        console.error(`rates.mjs: ${name}: a whole number is wanted`);
        process.exit(2);
    }
    return value;
};

const modelPath = process.env.BENCH_MODEL;
if (!folder || !modelPath) {
    console.error("rates.mjs: FOLDER and BENCH_MODEL are wanted");
    process.exit(2);
}
const nPrompt = setting("BENCH_PROMPT", 512);
const nGenerate = setting("BENCH_GEN", 128);
const depth = setting("BENCH_DEPTH", 0);
const threads = setting("BENCH_THREADS", 1);

const {getLlama} = await import(pathToFileURL(path.join(path.resolve(folder), "node_modules/node-llama-cpp/dist/index.js")));
const llama = await getLlama({
    build: "never", skipDownload: true, gpu: option("--gpu", false), logLevel: "error", progressLogs: false, maxThreads: threads
});
const model = await llama.loadModel({
    modelPath: path.resolve(modelPath), gpuLayers: Number(option("--layers", 0)), ignoreMemorySafetyChecks: true
});
const context = await model.createContext({
    contextSize: depth + Math.max(nPrompt, nGenerate) + 8, batchSize: 512, threads,
    flashAttention: !options.includes("--no-flash"), ignoreMemorySafetyChecks: true
});
const sequence = context.getSequence();

// As bench makes them up.
const vocabulary = model.fileInfo.metadata.tokenizer.ggml.tokens.length;
const token = (i) => (i === 0 ? 1 : (300 + 37 * i) % vocabulary);
const tokens = (from, to) => Array.from({length: to - from}, (_, i) => token(from + i));

async function measure(run, n) {
    let rate = null;
    for (let round = 0; round < 2 && n > 0; ++round) {
        const begin = process.hrtime.bigint();
        await run();
        rate = n / (Number(process.hrtime.bigint() - begin) * 1e-9);
        await sequence.eraseContextTokenRanges([{start: depth, end: sequence.nextTokenIndex}]);
    }
    return rate;
}

if (depth > 0) {
    await sequence.evaluateWithoutGeneratingNewTokens(tokens(0, depth));
}
const prefill = await measure(() => sequence.evaluateWithoutGeneratingNewTokens(tokens(depth, depth + nPrompt)), nPrompt);
const decode = await measure(async () => {
    let n = 0;
    for await (const _ of sequence.evaluate([token(depth)], {temperature: 0, yieldEogToken: true})) {
        if (++n === nGenerate) {
            break;
        }
    }
}, nGenerate);
console.log(JSON.stringify({prefill_tok_s: prefill, decode_tok_s: decode}));
await context.dispose();
await model.dispose();
await llama.dispose();
