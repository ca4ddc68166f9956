// Generates with a released build of llama.cpp, as any user's program would; the tests record it.
//
//     node drive.mjs FOLDER[,FOLDER…] MODEL[,MODEL…] [--gpu vulkan] [--layers N] [--flash | --both] [--tokens N] [--batch N]
//         [--context N] [--threads N] [--prompt IDS] [--ticks FILE] [--times FILE] [--result FILE] [--hold N:FILE,…]
//         [--contexts N | --at-once N] [--embed]
//
// FOLDER: where npm installed node-llama-cpp and the binaries (fixtures.sh); several: different builds in one process. Prints the
// ids of the tokens, in one line for each build and model, and with --both for each without flash attention and with it.
// --at-once: as many contexts of each of these generate at the same time, each on a thread of its own and from another first
// token, and all builds and models beside each other.
// --embed: the embedding of the prompt as well, its first numbers behind the tokens.
// --hold: after N tokens it waits until FILE is there.
// --ticks: writes a '.' for each tick of its event loop, a '|' for each token; --result: the lines of tokens, to a file as well.
// --contexts: each model so many times. --times: a line for each time: nanoseconds of each token behind the first two, and of the
// processor in all of the process for all of these together.
import {appendFileSync, existsSync, writeFileSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [folders, models, ...options] = process.argv.slice(2);
const option = (name, otherwise) => (options.includes(name) ? options[options.indexOf(name) + 1] : otherwise);
const number = (name, otherwise) => Number(option(name, otherwise));

const prompt = option("--prompt", "1,403,407,261,378").split(",").map(Number);
const ticks = option("--ticks");
const note = (what) => ticks && appendFileSync(ticks, what);
const holds = option("--hold", "").split(",").filter(Boolean).map((hold) => hold.split(":"));
const atOnce = number("--at-once", 0);
const threads = number("--threads", atOnce > 0 ? 1 : 2); // more than there are cores wait for each other, busily
const lines = [];

async function opened(folder) {
    const {getLlama} = await import(pathToFileURL(path.join(folder, "node_modules/node-llama-cpp/dist/index.js")));
    return getLlama({
        build: "never", skipDownload: true, gpu: option("--gpu", false), logLevel: option("--log", "error"), progressLogs: false,
        ...(atOnce > 0 ? {maxThreads: 0} : {}) // else contexts wait for each other's threads
    });
}

/// One context: its line.
async function generate(loaded, flashAttention, first) {
    const context = await loaded.createContext({
        contextSize: number("--context", 256), batchSize: number("--batch", 64), flashAttention, threads,
        ignoreMemorySafetyChecks: true
    });
    const tokens = [];
    const times = [];
    let last = 0n, before = null;
    const ticking = ticks && setInterval(() => note("."), 2);
    for await (const token of context.getSequence().evaluate(first, {temperature: 0, yieldEogToken: true})) {
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
    await context.dispose();
    return tokens.join(" ");
}

async function embed(loaded) {
    const context = await loaded.createEmbeddingContext({
        contextSize: 64, batchSize: 64, threads, ignoreMemorySafetyChecks: true
    });
    const {vector} = await context.getEmbeddingFor(prompt);
    await context.dispose();
    return vector.slice(0, 4).map((value) => value.toFixed(5)).join(" ");
}

function print(line) {
    lines.push(line);
    console.log(line);
    if (option("--result")) {
        writeFileSync(option("--result"), lines.join("\n") + "\n");
    }
}

async function load(llama, modelPath) {
    return llama.loadModel({
        modelPath: path.resolve(modelPath), gpuLayers: number("--layers", 0), ignoreMemorySafetyChecks: true
    });
}

const flashes = options.includes("--both") ? [false, true] : [options.includes("--flash")];
if (atOnce > 0) {
    const llamas = [];
    for (const folder of folders.split(",")) {
        llamas.push(await opened(folder));
    }
    const loaded = await Promise.all(llamas.flatMap((llama) => models.split(",").map((model) => load(llama, model))));
    const jobs = loaded.flatMap((model) => flashes.flatMap((flash) => Array.from({length: atOnce}, (_, i) =>
        generate(model, flash, [...prompt.slice(0, -1), prompt.at(-1) + i]))));
    const embeddings = options.includes("--embed") ? loaded.map(embed) : [];
    (await Promise.all([...jobs, ...embeddings])).forEach(print);
    for (const one of [...loaded, ...llamas]) {
        await one.dispose();
    }
} else {
    for (const folder of folders.split(",")) {
        const llama = await opened(folder);
        for (const model of models.split(",")) {
            const loaded = await load(llama, model);
            for (const flash of flashes) {
                for (let n = 0; n < number("--contexts", 1); ++n) {
                    print(await generate(loaded, flash, prompt));
                }
            }
            if (options.includes("--embed")) {
                print(await embed(loaded));
            }
            await loaded.dispose();
        }
        await llama.dispose();
    }
}
