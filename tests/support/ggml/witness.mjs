// What a scheduler printed of its own graphs (GGML_SCHED_DEBUG=2), against the recording of the same run.
import {spawnSync} from "node:child_process";

const views = new Set(["NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE"]); // as nodes they are not printed
/// Logs cut names off, and align them. Where the name of what is copied begins with a blank, that is there or not when it is cut.
function as_printed(name) {
    const own = name.replace(/^(\w+)\.\d+#/, "$1#");
    return /#[ (]/.test(own) ? own.replaceAll(" ", "").slice(0, 16) : own.slice(0, 20).replaceAll(" ", "");
}
// The second backend of a name has that name in a log.
const named = (backend) => backend?.replace(/\.\d+$/, "") ?? null;

/// {graphs, same, lines, identical, causes, causesIdentical, first}: of the printed graphs, how many are the recorded ones in each
/// split, input, node and source; how many lines that is; how many of them have a cause, where the program was built with them.
/// A string: why nothing can be said.
export function witnessed(schedscope, trace, log, imported) {
    const run = (...args) => spawnSync(schedscope, args, {encoding: "utf8", maxBuffer: 1 << 28});
    const made = run("import", log, "--force", "-o", imported);
    if (made.status !== 0) {
        return made.stderr.trim();
    }
    const shown = (of, what, evaluation) => {
        const done = run("show", of, "--json", ...(what ? ["--what", what] : []), ...(evaluation === undefined ? [] : ["--eval", String(evaluation)]));
        if (done.status !== 0) {
            throw new Error(done.error?.message ?? done.stderr.trim());
        }
        return JSON.parse(done.stdout);
    };
    const found = {graphs: shown(imported).evaluations, same: 0, lines: 0, identical: 0, causes: 0, causesIdentical: 0, first: null};
    // A program may print less than it plans: log levels are set after it began. What it prints last, it planned last.
    const planned = shown(trace, "verdicts").verdicts.map((verdict) => verdict.eval);
    if (found.graphs > planned.length) {
        return `${found.graphs} graphs were printed, ${planned.length} recorded`;
    }
    for (let graph = 0; graph < found.graphs; ++graph) {
        const evaluation = planned[planned.length - found.graphs + graph];
        const before = found.lines - found.identical + found.causes - found.causesIdentical;
        const compare = (same, what, ours, theirs) => {
            found.lines += 1;
            found.identical += same ? 1 : 0;
            found.first ??= same ? null : `evaluation ${evaluation}, ${what}: recorded ${ours}, printed ${theirs}`;
        };
        const recorded = (what) => shown(trace, what, evaluation)[what];
        const printed = (what) => shown(imported, what, graph)[what];
        compareSplits(recorded("splits"), printed("splits"), compare);
        compareTensors(recorded("assignments"), printed("assignments"), compare, found, evaluation);
        found.same += before === found.lines - found.identical + found.causes - found.causesIdentical ? 1 : 0;
    }
    return found;
}

function compareSplits(recorded, printed, compare) {
    const words = (split) => (split ? `${named(split.backend)} from node ${split.first_node}` : "none");
    for (let i = 0; i < Math.max(recorded.length, printed.length); ++i) {
        const [ours, theirs] = [recorded[i], printed[i]];
        compare(words(ours) === words(theirs), `split ${i}`, words(ours), words(theirs));
        for (let k = 0; k < Math.max(ours?.inputs.length ?? 0, theirs?.inputs.length ?? 0); ++k) {
            const [a, b] = [ours?.inputs[k]?.tensor, theirs?.inputs[k]?.tensor];
            compare(a !== undefined && b !== undefined && as_printed(a) === as_printed(b), `input ${k} of split ${i}`, a, b);
        }
    }
}

function compareTensors(recorded, printed, compare, found, evaluation) {
    const words = (t) => (t ? `${t.op} ${t.name} on ${named(t.backend)}` : "none");
    const compareCause = (ours, theirs) => {
        if (theirs?.cause) {
            const same = ours?.cause === theirs.cause;
            found.causes += 1;
            found.causesIdentical += same ? 1 : 0;
            found.first ??= same ? null : `evaluation ${evaluation}, ${theirs.name}: planned by ${ours?.cause}, printed ${theirs.cause}`;
        }
    };
    // Nodes in the order in which the program gave them, and the scheduler prints them: before a backend moves some.
    const nodes = recorded.filter((t) => t.node !== null && !views.has(t.op)).sort((a, b) => a.id - b.id);
    const printedNodes = printed.filter((t) => t.op !== null && !views.has(t.op));
    for (let i = 0; i < Math.max(nodes.length, printedNodes.length); ++i) {
        const [ours, theirs] = [nodes[i], printedNodes[i]];
        const same = ours && theirs && ours.op === theirs.op && as_printed(ours.name) === as_printed(theirs.name) && named(ours.backend) === named(theirs.backend);
        compare(same, `node ${i}`, words(ours), words(theirs));
        compareCause(ours, theirs);
    }
    // What they read: leafs, views and copies, by name. Names repeat; each is taken once. A CAST reads itself before it is there,
    // and the log does not say that it is the same.
    const rest = new Map();
    for (const t of recorded.filter((t) => t.node === null || t.op === "CPY" || views.has(t.op))) {
        const name = as_printed(t.name);
        rest.set(name, [...(rest.get(name) ?? []), t]);
    }
    const copies = new Set(); // a log writes the name of what is copied in two ways, where it begins with a blank: two tensors
    for (const theirs of printed.filter((t) => t.op === null || views.has(t.op))) {
        if (theirs.name.includes("#") && copies.has(as_printed(theirs.name)) && rest.get(as_printed(theirs.name))?.length === 0) {
            continue;
        }
        copies.add(as_printed(theirs.name));
        const sameName = rest.get(as_printed(theirs.name)) ?? [];
        const fits = (t) => !theirs.backend || named(t.backend) === named(theirs.backend); // an original of which only copies are read has none
        const best = [sameName.findIndex((t) => fits(t) && t.cause === theirs.cause), sameName.findIndex(fits), 0].find((i) => i >= 0);
        const [ours] = sameName.splice(best, 1);
        compare(ours !== undefined && fits(ours), "source", words(ours), words(theirs));
        compareCause(ours, theirs);
    }
}
