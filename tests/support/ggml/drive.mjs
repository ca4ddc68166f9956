// Generates with a released build of llama.cpp, as any user's program would; the tests record it.
//
//     node drive.mjs FOLDER MODEL[,MODEL…] [--gpu vulkan] [--layers N] [--flash | --both] [--tokens N] [--batch N] [--context N]
//         [--prompt IDS] [--threads N] [--contexts N] [--ticks FILE] [--times FILE] [--result FILE] [--hold N:FILE,…]
//
// FOLDER: where npm installed node-llama-cpp and the binaries (fixtures.sh). Prints the ids of the tokens, in one line for each
// model, and with --both for each without flash attention and with it.
// --hold: after N tokens it waits until FILE is there.
// --ticks: writes a '.' for each tick of its event loop, a '|' for each token; --result: the lines of tokens, to a file as well.
// --contexts: each model so many times. --times: a line for each time: nanoseconds of each token behind the first two, and of the
// processor in all of the process for all of these together.
import {appendFileSync, existsSync, writeFileSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [folder, model, ...options] = process.argv.slice(2);
const option = (name, otherwise) => (options.includes(name) ? options[options.indexOf(name) + 1] : otherwise);
const number = (name, otherwise) => Number(option(name, otherwise));

const {getLlama} = await import(pathToFileURL(path.join(folder, "node_modules/node-llama-cpp/dist/index.js")));
const llama = await getLlama({build: "never", skipDownload: true, gpu: option("--gpu", false), logLevel: option("--log", "error"), progressLogs: false});
const prompt = option("--prompt", "1,403,407,261,378").split(",").map(Number);
const ticks = option("--ticks");
const note = (what) => ticks && appendFileSync(ticks, what);
const holds = option("--hold", "").split(",").filter(Boolean).map((hold) => hold.split(":"));
const lines = [];

/// One context: its line of tokens.
async function generate(loaded, flashAttention) {
    const context = await loaded.createContext({
        contextSize: number("--context", 256), batchSize: number("--batch", 64), flashAttention, threads: number("--threads", 2),
        ignoreMemorySafetyChecks: true
    });
    const tokens = [];
    const times = [];
    let last = 0n, before = null;
    const ticking = ticks && setInterval(() => note("."), 2);
    for await (const token of context.getSequence().evaluate(prompt, {temperature: 0, yieldEogToken: true})) {
        tokens.push(token);
        note("|");
        if (option("--times")) { // the first is the prompt's; the second plans what the others may use again
            const now = process.hrtime.bigint();
            before = tokens.length === 2 ? process.cpuUsage() : before;
            if (tokens.length > 2) {
                times.push(now - last);
            }
            last = now;
        }
        for (const [, file] of holds.filter(([n]) => Number(n) === tokens.length)) {
            while (!existsSync(file)) {
                await new Promise((resolve) => setTimeout(resolve, 1));
            }
        }
        if (tokens.length >= number("--tokens", 8)) {
            break;
        }
    }
    clearInterval(ticking);
    if (before) {
        const {user, system} = process.cpuUsage(before);
        appendFileSync(option("--times"), `${times.join(" ")} cpu ${(user + system) * 1000}\n`);
    }
    lines.push(tokens.join(" "));
    console.log(lines.at(-1));
    if (option("--result")) {
        writeFileSync(option("--result"), lines.join("\n") + "\n");
    }
    await context.dispose();
}

for (const modelPath of model.split(",")) {
    const loaded = await llama.loadModel({
        modelPath: path.resolve(modelPath), gpuLayers: number("--layers", 0), ignoreMemorySafetyChecks: true
    });
    for (const flashAttention of options.includes("--both") ? [false, true] : [options.includes("--flash")]) {
        for (let n = 0; n < number("--contexts", 1); ++n) {
            await generate(loaded, flashAttention);
        }
    }
    await loaded.dispose();
}
await llama.dispose();
