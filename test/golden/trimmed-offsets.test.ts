import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readTokenizer } from "#sdk/compile/checkpoint/model-folder.ts";
import { openTokenizer } from "#sdk/compile/model/tokenize-texts.ts";
import { shipTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";

/** Places of tokens for folders whose files leave spaces out or not: trimmed_offsets.py. */
interface Golden {
  readonly text: string;
  readonly tokenizer: object;
  readonly settings: object;
  readonly cases: readonly {
    readonly version: string;
    readonly settings: object;
    readonly post_processor: object;
    readonly offsets: readonly number[];
  }[];
}

const golden = JSON.parse(await readFile(join(import.meta.dirname, "trimmed-offsets.json"), "utf8")) as Golden;
/** More tokens than the tokenizer has. */
const VOCABULARY = 1000;

const cases = golden.cases.map((each) => {
  const { version, settings, post_processor } = each;
  return [`${version}, ${JSON.stringify(settings)}, ${JSON.stringify(post_processor)}`, each] as const;
});

it.each(cases)("tokens are where transformers finds them: %s", async (_, each) => {
  const folder = await temporaryFolder();
  const files = {
    "tokenizer.json": { ...golden.tokenizer, post_processor: each.post_processor },
    "tokenizer_config.json": { ...golden.settings, ...each.settings },
    "config.json": { model_type: "roberta", transformers_version: each.version },
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(content));
  const tokenizer = await openTokenizer(folder, shipTokenizer(await readTokenizer(folder)), VOCABULARY);
  expect([...tokenizer.encodePlaced(golden.text, VOCABULARY).offsets]).toEqual(each.offsets);
});
