// Records released builds of llama.cpp with many settings, and counts how much of what they did is planned again the same.
//
//     node matrix.mjs SCHEDSCOPE SHARED [--few] [--versions V,V…] [--models WORD,WORD…] [--devices WORD,WORD…] [--graphs PROGRAM]
//         [--keep FOLDER] [-o TABLE.md]
//
// SCHEDSCOPE: the program. SHARED: the folder that has models/. --few: one row of each sort (what ctest runs). A row is a build,
// a model, a device and flash attention on or off. It is run by itself first: a build that crashes there is counted apart; one
// that says other tokens from run to run is marked. The recorded run prints what its scheduler decides (GGML_SCHED_DEBUG=2): the log, imported,
// has to say the same (witness.mjs). --graphs: odd_graphs, whose graphs each build plans as well. --keep: the traces go there. Exit code: 0: all is reproduced; 1: something is not; 77:
// nothing could be run.
import {spawnSync} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";

import {witnessed} from "./witness.mjs";

const [schedscope, shared, ...options] = process.argv.slice(2);
const option = (name) => (options.includes(name) ? options[options.indexOf(name) + 1] : null);
const few = options.includes("--few");
const fixtures = process.env.SCHEDSCOPE_FIXTURES ?? "/var/cache/schedscope-fixtures";
const drive = path.join(path.dirname(fileURLToPath(import.meta.url)), "drive.mjs");
const ownNode = path.join(fixtures, "node", "node");
const node = fs.existsSync(ownNode) ? ownNode : process.execPath;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "schedscope-matrix-"));
process.on("exit", () => fs.rmSync(scratch, {recursive: true, force: true}));

const byAge = (a, b) => a.localeCompare(b, undefined, {numeric: true});
const versions = (option("--versions")?.split(",") ?? (fs.existsSync(fixtures) ? fs.readdirSync(fixtures) : []))
    .filter((v) => fs.existsSync(path.join(fixtures, v, "complete")) && fs.existsSync(path.join(fixtures, v, "node_modules/node-llama-cpp")))
    .sort(byAge);
const hasAvx2 = fs.existsSync("/proc/cpuinfo") && / avx2 /.test(fs.readFileSync("/proc/cpuinfo", "utf8")); // then weights are put in another order
const hasVulkan = (v) => fs.existsSync(path.join(fixtures, v, "node_modules/@node-llama-cpp/linux-x64-vulkan"));

// The story models, and from a trained one of each architecture that is here.
const prompts = (ids) => Array.from({length: 40}, (_, i) => ids[i % ids.length]).join(",");
const story = prompts([1, ...Array.from({length: 39}, (_, i) => 300 + ((i * 37) % 200))]);
const models = ["f32", "f16", "q8_0", "q4_0"].map((type) => ({name: type, file: path.join(shared, `models/stories260K-${type}.gguf`), prompt: story}));
const archs = path.join(shared, "models/arch");
for (const arch of fs.existsSync(archs) ? fs.readdirSync(archs).sort() : []) {
    const file = fs.readdirSync(path.join(archs, arch)).find((name) => name.endsWith(".gguf"));
    if (file) {
        const ids = fs.readFileSync(path.join(archs, arch, "tokens.txt"), "utf8").trim().split(/\s+/);
        models.push({name: arch, file: path.join(archs, arch, file), prompt: prompts(ids)});
    }
}
const wanted = option("--models")?.split(",");
const chosen = models.filter((m) => fs.existsSync(m.file) && (!wanted || wanted.some((w) => m.name.includes(w))));
if (versions.length === 0 || chosen.length === 0) {
    console.error(`matrix: no ${versions.length === 0 ? `released builds of llama.cpp in ${fixtures}` : `models in ${shared}`}`);
    process.exit(77);
}

const devices = [{name: "CPU", args: [], vulkan: false},
    ...["0", "1", "3", "99"].map((layers) => ({name: `Vulkan -ngl ${layers === "99" ? "all" : layers}`, args: ["--gpu", "vulkan", "--layers", layers], vulkan: true})),
    {name: "Vulkan twice -ngl all", args: ["--gpu", "vulkan", "--layers", "99"], vulkan: true, visible: "0,0"}]; // four copies of each input
const wantedDevices = option("--devices")?.split(",");
function rows() {
    const all = [];
    for (const version of versions) {
        for (const model of chosen) {
            for (const device of devices.filter((d) => (!d.vulkan || hasVulkan(version)) && (!wantedDevices || wantedDevices.some((w) => d.name.includes(w))))) {
                for (const flash of [false, true]) {
                    all.push({version, model, device, flash});
                }
            }
        }
    }
    // A dozen from all over, of which no two follow each other in all of what they vary.
    const stride = Math.floor(all.length / 12) | 1;
    const graphs = option("--graphs") ? (few ? versions.slice(-1) : versions).map((version) => ({version, model: {name: "odd graphs"}, device: {name: "CPU twice, Vulkan"}, flash: false, graphs: true})) : [];
    return few && all.length > 12 ? [...graphs, ...Array.from({length: 12}, (_, i) => all[(i * stride + (i % 5)) % all.length])] : [...graphs, ...all];
}

/// What is run, and what a recorded run of it is asked for beside.
function commandOf(row, tokens) {
    if (!row.graphs) {
        const drives = [node, drive, path.join(fixtures, row.version), row.model.file, ...row.device.args, ...(row.flash ? ["--flash"] : []), "--prompt", row.model.prompt, "--tokens", "8"];
        return {command: drives, more: ["--result", tokens, "--log", "debug"]};
    }
    const name = hasVulkan(row.version) ? "linux-x64-vulkan" : "linux-x64";
    const folder = path.join(fixtures, row.version, "node_modules/@node-llama-cpp", name, "bins", name);
    const cpus = [...(hasAvx2 ? ["haswell"] : []), "sandybridge", "x64"].map((of) => `libggml-cpu-${of}.so`); // the first that is there
    const there = ["libggml-base.so", "libggml-cpu.so", ...cpus, "libggml-vulkan.so", "libggml.so"]
        .map((library) => path.join(folder, library)).filter((file) => fs.existsSync(file));
    const cpu = there.find((file) => file.includes("-cpu"));
    return {command: [option("--graphs"), ...there.filter((file) => !file.includes("-cpu") || file === cpu)], more: []};
}

/// With `log`: a file where all goes that it prints.
function run(command, args, more = {}, log = null) {
    const to = log === null ? "pipe" : fs.openSync(log, "w");
    const done = spawnSync(command, args, {encoding: "utf8", timeout: 600000, maxBuffer: 1 << 28, stdio: ["ignore", to, to], env: {...process.env, ...more}});
    if (log !== null) {
        fs.closeSync(to);
    }
    const why = done.signal ?? (done.error ? done.error.code : done.status);
    return {out: done.stdout ?? "", err: done.stderr ?? "", why, ok: done.status === 0};
}

/// ggml of before b4000 writes a line in pieces, and what the client says of itself may stand between two of them.
function mend(log) {
    fs.writeFileSync(log, fs.readFileSync(log, "utf8").replace(/(?<=[^\n])(\[node-llama-cpp\] llama_.*\n)+/g, ""));
}

function measured(row) {
    const inScratch = (name) => path.join(scratch, name);
    const [trace, log, tokens] = [inScratch("row.trace"), inScratch("row.log"), inScratch("tokens")];
    const {command: [program, ...command], more} = commandOf(row, tokens);
    const devices = {GGML_VK_VISIBLE_DEVICES: row.device.visible ?? "0"};
    const plain = run(program, command, devices);
    if (!plain.ok) {
        return {left: `ends with ${plain.why} by itself`};
    }
    const recorded = run(schedscope, ["record", "--force", "-o", trace, "--", program, ...command, ...more], {...devices, GGML_SCHED_DEBUG: "2"}, log);
    if (!recorded.ok) {
        let again = null; // a build that crashes now and then does so without us, too
        for (let i = 0; i < 12 && !again; ++i) {
            const alone = run(program, command, devices);
            again = alone.ok ? null : alone;
        }
        return again ? {left: `ends with ${again.why} by itself, now and then`}
            : {failed: `ends with ${recorded.why} when recorded: ${fs.readFileSync(log, "utf8").trim().split("\n").at(-1)}`};
    }
    const said = row.graphs ? plain.out : fs.readFileSync(tokens, "utf8");
    const differs = said !== plain.out;
    // Some builds generate other tokens from run to run, without us: then it is the program's own.
    if (differs && Array.from({length: 12}).every(() => run(program, command, devices).out === plain.out)) {
        return {failed: `generates ${said.trim()} when recorded, else ${plain.out.trim()}`};
    }
    if (option("--keep")) {
        const name = [row.version, row.model.name, row.device.name.replaceAll(" ", "_"), row.flash ? "flash" : "plain"].join("-");
        fs.copyFileSync(trace, path.join(option("--keep"), `${name}.trace`));
    }
    const shown = run(schedscope, ["show", trace, "--what", "verdicts", "--json"]);
    if (!shown.ok) {
        return {failed: shown.err.trim()};
    }
    const found = {varies: differs, plans: 0, reproduced: 0, decisions: 0, identical: 0, memory: 0, memoryReproduced: 0, places: 0, first: null, rules: new Set()};
    for (const verdict of JSON.parse(shown.out).verdicts) {
        found.plans += 1;
        found.reproduced += verdict.decisions === verdict.identical && verdict.first === null ? 1 : 0;
        found.decisions += verdict.decisions;
        found.identical += verdict.identical;
        found.first ??= verdict.first;
        found.rules.add(verdict.rules);
        if (verdict.memory) {
            found.memory += 1;
            found.memoryReproduced += verdict.memory.placements === verdict.memory.identical ? 1 : 0;
            found.places += verdict.memory.placements;
        }
    }
    mend(log);
    found.witness = witnessed(schedscope, trace, log, inScratch("printed.trace"));
    return found.plans === 0 ? {failed: "no plan was recorded"} : found;
}

const of = (same, all) => `${same} of ${all}`;
const table = [["build", "model", "device", "flash", "plans", "decisions", "memory plans", "rules of", "printed graphs", "lines", "causes", ""]];
const sum = {rows: 0, left: 0, failed: 0, plans: 0, reproduced: 0, decisions: 0, identical: 0, memory: 0, memoryReproduced: 0, places: 0};
const printed = {graphs: 0, same: 0, lines: 0, identical: 0, causes: 0, causesIdentical: 0};
const add = (to, found) => Object.keys(found).filter((key) => key in to).forEach((key) => (to[key] += found[key]));
for (const row of rows()) {
    const found = measured(row);
    const line = [row.version, row.model.name, row.device.name, row.flash ? "on" : "off"];
    sum.rows += 1;
    if (found.left || found.failed) {
        sum[found.left ? "left" : "failed"] += 1;
        line.push("", "", "", "", "", "", "", found.left ?? found.failed);
    } else {
        const {witness} = found;
        const says = typeof witness === "string" ? witness : witness.first;
        add(sum, found);
        add(printed, typeof witness === "string" ? {} : witness);
        sum.failed += found.reproduced < found.plans || found.memoryReproduced < found.memory || says ? 1 : 0;
        line.push(of(found.reproduced, found.plans), of(found.identical, found.decisions), of(found.memoryReproduced, found.memory), [...found.rules].join(", "));
        line.push(...(typeof witness === "string" ? ["", "", ""] : [of(witness.same, witness.graphs), of(witness.identical, witness.lines), of(witness.causesIdentical, witness.causes)]));
        line.push([found.first ? JSON.stringify(found.first) : "", says ?? "", found.varies ? "says other tokens from run to run by itself" : ""].filter(Boolean).join("; "));
    }
    table.push(line);
    console.log(line.filter((cell, i) => i < 11 || cell).join("  "));
    if (option("-o")) {
        write(option("-o"));
    }
}
function total() {
    return `${sum.rows} rows: ${of(sum.reproduced, sum.plans)} plans reproduced, ${of(sum.identical, sum.decisions)} decisions; ` +
        `${of(sum.memoryReproduced, sum.memory)} memory plans, ${sum.places} places; printed by ggml: ${of(printed.same, printed.graphs)} graphs the same, ` +
        `${of(printed.identical, printed.lines)} lines, ${of(printed.causesIdentical, printed.causes)} causes; ${sum.left} rows left out, ${sum.failed} failed`;
}
/// As far as it is: it takes hours.
function write(file) {
    const lines = table.map((cells) => `| ${cells.join(" | ")} |`);
    fs.writeFileSync(file, [lines[0], `|${" --- |".repeat(table[0].length)}`, ...lines.slice(1), "", total(), ""].join("\n"));
}
console.log(total());
process.exit(sum.failed > 0 ? 1 : sum.plans === 0 ? 77 : 0);
