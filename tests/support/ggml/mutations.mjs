// Breaks one rule of the planner at a time, and counts the recorded plans of which the verdict says so.
//
//     node mutations.mjs BUILD TRACES [-o TABLE.md]
//
// BUILD: a folder that Ninja has built the tests in. TRACES: a folder of recordings in which all is reproduced (matrix.mjs --keep).
// The planner is compiled once more, elsewhere, with every rule of broken_rules.mjs in both ways; BROKEN_RULE says which of them is
// broken. Nothing in the sources or in BUILD changes. Exit code: 1: a broken rule that no plan shows, although one could.
import {execFileSync, spawnSync} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";

import {brokenRules} from "./broken_rules.mjs";

const [build, traces, ...options] = process.argv.slice(2);
const sources = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "schedscope-mutations-"));
process.on("exit", () => fs.rmSync(scratch, {recursive: true, force: true}));

// The planner in which each rule can be broken.
const planner = path.join(scratch, "runtime/planner");
fs.cpSync(path.join(sources, "runtime/planner"), planner, {recursive: true});
fs.writeFileSync(path.join(planner, "broken_rule.h"), `#pragma once
#include <cstdlib>
inline const int broken_rule = [] {
    const char* const number = std::getenv("BROKEN_RULE");
    return number == nullptr ? -1 : std::atoi(number);
}();
`);
const texts = new Map(); // of each changed file: its text, and for each place that is changed the rules that do
brokenRules.forEach(({rule, file, at, to}, number) => {
    const known = texts.get(file) ?? {text: fs.readFileSync(path.join(planner, file), "utf8"), places: new Map()};
    texts.set(file, known);
    const [before, rest] = at.split("«");
    const [from, after] = rest.split("»");
    const found = known.text.split(before + from + after);
    if (found.length !== 2) {
        throw new Error(`${file} has ${found.length - 1} of what "${rule}" breaks`);
    }
    const begin = found[0].length + before.length;
    const end = begin + from.length;
    known.places.set(`${begin} ${end}`, [...(known.places.get(`${begin} ${end}`) ?? []), {number, to}]);
});
for (const [file, {text, places}] of texts) {
    const ordered = [...places].map(([place, rules]) => ({place: place.split(" ").map(Number), rules}));
    // A rule may be a part of another: the larger is around it.
    const written = (begin, end) => {
        let out = "";
        let at = begin;
        const within = ordered.filter(({place: [b, e]}) => b >= begin && e <= end && !(b === begin && e === end));
        const outer = within.filter(({place: [b, e]}) => !within.some(({place: [b2, e2]}) => b2 <= b && e2 >= e && (b2 < b || e2 > e)));
        for (const {place: [b, e], rules} of outer.sort((x, y) => x.place[0] - y.place[0])) {
            const whole = rules.reduce((inner, {number, to}) => `(broken_rule == ${number} ? (${to}) : ${inner})`, `(${written(b, e)})`);
            out += text.slice(at, b) + whole;
            at = e;
        }
        return out + text.slice(at, end);
    };
    const include = '#include "runtime/planner/broken_rule.h"\n';
    const changed = written(0, text.length);
    fs.writeFileSync(path.join(planner, file), file.endsWith(".h") ? changed.replace("#pragma once\n", `#pragma once\n${include}`) : include + changed);
}
console.error(`compiling the planner with ${brokenRules.length} rules that can be broken`);
const objects = [];
for (const name of fs.readdirSync(planner, {recursive: true}).filter((name) => name.endsWith(".cpp"))) {
    const object = path.join(scratch, `${name.replaceAll("/", "_")}.o`);
    execFileSync("c++", ["-std=c++20", "-O1", "-w", "-I", scratch, "-I", sources, "-c", path.join(planner, name), "-o", object], {stdio: "inherit"});
    objects.push(object);
}
const archive = path.join(scratch, "planner.a");
execFileSync("ar", ["rcs", archive, ...objects]);
const program = path.join(scratch, "verdicts_again");
const link = execFileSync("ninja", ["-C", build, "-t", "commands", "bin/verdicts_again"], {encoding: "utf8"}).trim().split("\n").at(-1);
execFileSync("sh", ["-c", link.replace(/\S*libschedscope_planner\.a/g, archive).replace("-o bin/verdicts_again", `-o ${program}`)], {cwd: build, stdio: "inherit"});

const files = fs.readdirSync(traces).filter((name) => name.endsWith(".trace")).map((name) => path.resolve(traces, name));
const run = (number) => spawnSync(program, files, {encoding: "utf8", env: {...process.env, BROKEN_RULE: String(number)}, timeout: 1200000});
const whole = run(-1);
if (whole.status !== 0) {
    console.error(`with no rule broken: ${whole.stdout}${whole.stderr}`);
    process.exit(3);
}
console.error(whole.stdout.trim());
const table = [["broken rule", "plans that differ", "of", "in their memory alone", "in the rules that fit", "in causes", "the first difference"]];
let unseen = 0;
let unseeable = 0;
brokenRules.forEach(({rule, unseen: why}, number) => {
    const done = run(number);
    const says = done.stdout.match(/^(\d+) of (\d+) plans differ, (\d+) in their memory alone, (\d+) in the rules that fit, (\d+) in causes: (.*)$/m);
    const row = says ? [rule, ...says.slice(1)] : [rule, "", "", "", "", "", `ends with ${done.signal ?? done.status}: ${done.stderr.trim()}`];
    if (says && says[1] === "0") {
        row[6] = why ?? "";
        unseen += why ? 0 : 1;
        unseeable += why ? 1 : 0;
    }
    table.push(row);
    console.log(row.join("  "));
});
const total = `${brokenRules.length} rules, ${unseen} of them in no plan of ${files.length} recordings, ${unseeable} that none can show`;
console.log(total);
if (options.includes("-o")) {
    const lines = table.map((cells) => `| ${cells.join(" | ")} |`);
    fs.writeFileSync(options[options.indexOf("-o") + 1], [lines[0], `|${" --- |".repeat(table[0].length)}`, ...lines.slice(1), "", total, ""].join("\n"));
}
process.exit(unseen > 0 ? 1 : 0);
