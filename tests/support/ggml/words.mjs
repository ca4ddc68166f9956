// How a released build of llama.cpp cuts texts into words, for tests/data/words.jsonl: made-up texts, the same for each SEED.
//
//     node words.mjs FOLDER RULES.cpp [COUNT [SEED]] > words.jsonl
//
// FOLDER: where npm installed node-llama-cpp (fixtures.sh). RULES.cpp: the file whose names of pre-tokenizers are asked about.
// COUNT texts for each name. llama.cpp gives token ids, not words. So each text gets a vocabulary in which all its parts are
// tokens and any two parts that meet are merged: then each word is one token.
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [folder, rules, count = "60", seed = "1"] = process.argv.slice(2);
const {getLlama} = await import(pathToFileURL(path.join(folder, "node_modules/node-llama-cpp/dist/index.js")));

let state = BigInt(seed);
function below(n) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number((state >> 33n) % BigInt(n));
}
const pick = (list) => list[below(list.length)];
const range = (first, last) => String.fromCodePoint(first + below(last - first + 1));

// What patterns tell apart, ends of their ranges among them.
const kinds = [
    () => pick(["a", "Z", "it", "We", "'s", "'LL", "'ve", "é", "Ω", "ж", "ß", "ǅ", "ʰ", "ƻ"]), () => range(0x61, 0x7a),
    () => range(0x41, 0x5a), () => range(0x30, 0x39), () => pick(["½", "Ⅷ", "٣", "²", "๕"]), () => range(0x21, 0x7e),
    () => pick(["~", "^", "|", "$", "+", "<", "=", ">", "`", "_", "/", "\\", "[", "]"]), () => pick(["…", "«", "¿", "。", "，", "！", "～"]),
    () => pick(["€", "±", "→", "©", "˜", "﹢"]), () => pick(["\u0301", "\u0903", "\u20dd"]), () => " ", () => pick([" ", "  ", "   "]),
    () => pick(["\n", "\r", "\r\n", "\t", "\v", "\f"]),
    () => pick(["\u0085", "\u00a0", "\u1680", "\u2003", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"]),
    () => pick(["\u180e", "\u200b", "\u200d", "\u00ad", "\ufeff", "\ue000", "\u0378"]), () => pick(["中", "龥", "䷿", "ひ", "カ", "一"]),
    () => pick(["가", "힣", "ऄ", "ก", "क्", "א", "ا"]), () => pick(["😀", "𝔸", "𐐀", "🇩", "𠀀"])
];
function madeUp() {
    const chosen = Array.from({length: 2 + below(4)}, () => pick(kinds));
    let text = "";
    for (let n = 2 + below(8); n > 0; --n) {
        text += pick(chosen)();
    }
    return text;
}

/// The characters that stand for bytes in vocabularies.
const letters = [];
for (let byte = 0, next = 256; byte < 256; ++byte) {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    letters.push(String.fromCodePoint(printable ? byte : next++));
}

function vocabulary(pre, text) {
    const bytes = [...Buffer.from(text)].map((byte) => letters[byte]);
    const tokens = new Set(letters), merges = new Set();
    for (let length = 2; length <= bytes.length; ++length) {
        for (let first = 0; first + length <= bytes.length; ++first) {
            tokens.add(bytes.slice(first, first + length).join(""));
            for (let cut = 1; cut < length; ++cut) {
                merges.add(`${bytes.slice(first, first + cut).join("")} ${bytes.slice(first + cut, first + length).join("")}`);
            }
        }
    }
    tokens.add("<end>");
    return file(pre, [...tokens], [...merges]);
}

function file(pre, tokens, merges) {
    const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32LE(n); return b; };
    const u64 = (n) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(n)); return b; };
    const text = (s) => { const b = Buffer.from(s); return Buffer.concat([u64(b.length), b]); };
    const number = (key, n) => Buffer.concat([text(key), u32(4), u32(n)]);
    const string = (key, s) => Buffer.concat([text(key), u32(8), text(s)]);
    const strings = (key, list) => Buffer.concat([text(key), u32(9), u32(8), u64(list.length), ...list.map(text)]);
    const numbers = (key, list) => Buffer.concat([text(key), u32(9), u32(5), u64(list.length), ...list.map(u32)]);
    const end = tokens.length - 1;
    const keys = [
        string("general.architecture", "llama"), number("llama.context_length", 64), number("llama.embedding_length", 32),
        number("llama.block_count", 1), number("llama.feed_forward_length", 32), number("llama.attention.head_count", 1),
        Buffer.concat([text("llama.attention.layer_norm_rms_epsilon"), u32(6), Buffer.from([0xac, 0xc5, 0x27, 0x37])]),
        string("tokenizer.ggml.model", "gpt2"), string("tokenizer.ggml.pre", pre), strings("tokenizer.ggml.tokens", tokens),
        numbers("tokenizer.ggml.token_type", tokens.map((_, id) => (id === end ? 3 : 1))),
        strings("tokenizer.ggml.merges", merges), number("tokenizer.ggml.bos_token_id", end), number("tokenizer.ggml.eos_token_id", end)
    ];
    return Buffer.concat([Buffer.from("GGUF"), u32(3), u64(0), u64(keys.length), ...keys]);
}

const names = [...readFileSync(rules, "utf8").matchAll(/_names\s*=\s*std::to_array<std::string_view>\(\s*\{([^}]*)\}/g)]
    .map((match) => [...match[1].matchAll(/"([^"]*)"/g)].map(([, name]) => name).find((name) => name !== ""));
const work = mkdtempSync(path.join(tmpdir(), "words-"));
const llama = await getLlama({build: "never", skipDownload: true, gpu: false, logLevel: "disabled", progressLogs: false});
const told = ["x\u2003y\u3000z", "^~|$+<=>", "a~\u00e9~~b"];
for (const pre of names) {
    for (let i = 0; i < told.length + Number(count); ++i) {
        const text = i < told.length ? told[i] : madeUp();
        const modelPath = path.join(work, "vocabulary.gguf");
        writeFileSync(modelPath, vocabulary(pre, text));
        let model;
        try {
            model = await llama.loadModel({modelPath, vocabOnly: true});
        } catch (error) { // this build does not know the name
            process.stderr.write(`${pre}: ${error.message}\n`);
            break;
        }
        const words = model.tokenize(text, false, "trimLeadingSpace").map((id) => model.detokenize([id], true));
        if (words.join("") === text) { // else a word's bytes are no text
            process.stdout.write(`${JSON.stringify({pre, text, words})}\n`);
        } else {
            process.stderr.write(`${pre}: ${JSON.stringify(text)} comes back as ${JSON.stringify(words)}\n`);
        }
        await model.dispose();
    }
}
rmSync(work, {recursive: true});
process.exit(0); // the client's own threads would wait
