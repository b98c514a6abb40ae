import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assertKeys } from "#sdk/compile/checkpoint/modules/accepted-keys.ts";
import { folderKeys } from "#sdk/compile/checkpoint/modules/ledger.ts";
import { classifierCases } from "../../fixtures/classifier-case.ts";
import { describeCheckpoint } from "../../fixtures/read-checkpoint.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import type { Json } from "../damage-json.ts";
import { damagedJsonText } from "../damaged-json-text.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";
import { workFolder } from "../work-folder.ts";

const names = [
  "1_Pooling/config.json",
  "config.json",
  "modules.json",
  "sentence_bert_config.json",
  "tokenizer_config.json",
];
const DEFAULT = new URL("../../../models/default/", import.meta.url);

/** The JSON files of a model folder, without weights. Its config.json is of any family. */
export const config: Target = {
  runs: { long: 30_000, short: 200 },
  refusals: ["checkpoint_invalid", "checkpoint_unsupported", "checkpoint_missing"],
  async start() {
    const folder = workFolder();
    const sound = new Map(names.map((name) => [name, readFileSync(new URL(name, DEFAULT), "utf8")]));
    mkdirSync(join(folder, "1_Pooling"));
    const configs = classifierCases.map(({ config }) => JSON.stringify(config));
    for (const [name, text] of sound) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, "tokenizer.json"), "{}");
    return async (seed) => {
      const choice = new SeededChoice(seed);
      const name = choice.of(names);
      const text = sound.get(name) ?? "";
      const input = name === "config.json" && choice.below(2) ? choice.of(configs) : text;
      const damaged =
        choice.below(5) === 0
          ? damagedBytes(Buffer.from(input), choice)
          : damagedJsonText(JSON.parse(input) as Json, choice);
      writeFileSync(join(folder, name), damaged);
      const found = await outcome(async () => {
        await describeCheckpoint(folder);
        return assertKeys(folder, await folderKeys(folder));
      });
      writeFileSync(join(folder, name), text);
      return found;
    };
  },
};
