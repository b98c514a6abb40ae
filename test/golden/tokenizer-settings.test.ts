import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTokenizer } from "#sdk/compile/checkpoint/model-folder.ts";
import { truncationSide } from "#sdk/compile/checkpoint/tokenizer/tokenizer-sides.ts";
import { openTokenizer } from "#sdk/compile/model/tokenize-texts.ts";
import { shipTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import type { Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";

type Files = "tokenizer.json" | "tokenizer_config.json";

/** Answers of transformers for folders whose tokenizer files say different things: tokenizer_settings.py. */
interface Golden {
  readonly texts: readonly string[];
  readonly maxTokens: number;
  readonly pairOf: readonly [string, string];
  readonly bases: Readonly<Record<string, Readonly<Record<Files, object>> & { readonly model_type: string }>>;
  readonly cases: readonly {
    /** Version of transformers that answered, and that wrote the folder. */
    readonly version: string;
    readonly base: string;
    readonly file: Files | "added_tokens.json";
    readonly edit: object;
    readonly answers: { readonly ids: number[][]; readonly pair: number[]; readonly types: number[] };
  }[];
}

const golden = JSON.parse(await readFile(join(import.meta.dirname, "tokenizer-settings.json"), "utf8")) as Golden;
/** More tokens than any of the tokenizers has. */
const VOCABULARY = 1000;

/** Tokenizers by what they are made of. */
const opened = new Map<string, Promise<Tokenizer>>();

async function tokenizerOf({ version, base, file, edit }: Golden["cases"][number]): Promise<Tokenizer> {
  const folder = await temporaryFolder();
  const { model_type, ...files } = golden.bases[base] as Golden["bases"][string];
  const all = {
    ...files,
    "config.json": { model_type, transformers_version: version },
    ...(!(file in files) && { [file]: {} }),
  };
  for (const [name, content] of Object.entries(all)) {
    await writeFile(join(folder, name), JSON.stringify({ ...content, ...(name === file && edit) }));
  }
  const { json, config } = await readTokenizer(folder);
  const used = JSON.stringify([json, truncationSide({ json, config })]);
  const tokenizer = opened.get(used) ?? openTokenizer(folder, shipTokenizer({ json, config }), VOCABULARY);
  opened.set(used, tokenizer);
  return tokenizer;
}

const versions = [...new Set(golden.cases.map(({ version }) => version))];

describe.each(versions.flatMap((version) => Object.keys(golden.bases).map((base) => ({ version, base }))))(
  "a folder of transformers $version: $base",
  ({ version, base }) => {
    const cases = golden.cases.filter((each) => each.version === version && each.base === base);
    it.each(cases.map((each) => ({ what: `${each.file} ${JSON.stringify(each.edit)}`, each })))(
      "has transformers' token ids with $what",
      async ({ each }) => {
        const tokenizer = await tokenizerOf(each);
        const pair = tokenizer.encodePair(...golden.pairOf, VOCABULARY);
        expect({
          ids: golden.texts.map((text) => [...tokenizer.encode(text, golden.maxTokens).ids]),
          pair: [...pair.ids],
          types: Array.from(pair.ids, (_, at) => Number(at >= pair.secondFrom)),
        }).toEqual(each.answers);
      },
    );
  },
);
