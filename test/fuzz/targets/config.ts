import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeCheckpoint } from "#sdk/compile/checkpoint/checkpoint.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import { damagedJson, type Json } from "../damage-json.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";

const names = [
  "1_Pooling/config.json",
  "config.json",
  "modules.json",
  "sentence_bert_config.json",
  "tokenizer_config.json",
];
const DEFAULT = new URL("../../../models/default/", import.meta.url);

/** The JSON files of a model folder, without weights. */
export const config: Target = {
  runs: { long: 30_000, short: 200 },
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "bert-edge-fuzz-"));
    const sound = new Map(names.map((name) => [name, readFileSync(new URL(name, DEFAULT), "utf8")]));
    cpSync(new URL("1_Pooling", DEFAULT), join(folder, "1_Pooling"), { recursive: true });
    for (const [name, text] of sound) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, "tokenizer.json"), "{}");
    return async (seed) => {
      const choice = new SeededChoice(seed);
      const name = choice.of(names);
      const text = sound.get(name) ?? "";
      const damaged =
        choice.below(5) === 0
          ? damagedBytes(Buffer.from(text), choice)
          : JSON.stringify(damagedJson(JSON.parse(text) as Json, choice));
      writeFileSync(join(folder, name), damaged);
      const found = await outcome(() => describeCheckpoint(folder));
      writeFileSync(join(folder, name), text);
      return found;
    };
  },
};
