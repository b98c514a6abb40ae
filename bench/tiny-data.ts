import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";

/** Texts of a data set for short runs. */
const texts = calibrationTexts.slice(0, 16).map((text) => text.replace(/\s+/g, " "));

/** Files with a few texts, in the formats of the data sets. Their scores and labels mean nothing. */
export interface TinyData {
  /** Pairs of sentences, as STS-B. */
  readonly sts: string;
  /** Folder with documents and queries, as SciFact. */
  readonly retrieval: string;
  /** Texts with the labels 0 and 1, as SST-2. */
  readonly labelled: string;
}

export async function writeTinyData(folder: string): Promise<TinyData> {
  const retrieval = join(folder, "retrieval");
  const paths: TinyData = { sts: join(folder, "sts.tsv"), retrieval, labelled: join(folder, "labelled.tsv") };
  const entries = texts.map((text, i) => JSON.stringify({ _id: `${i}`, text })).join("\n");
  const files = {
    [paths.sts]: texts.slice(1).map((text, i) => `${i}\t${texts[i]}\t${text}`),
    [join(retrieval, "corpus.jsonl")]: [entries],
    [join(retrieval, "queries.jsonl")]: [JSON.stringify({ _id: "query", text: texts[0] })],
    [join(retrieval, "qrels/test.tsv")]: ["query-id\tcorpus-id\tscore", "query\t1\t1"],
    [paths.labelled]: texts.map((text, i) => `${text}\t${i % 2}`),
  };
  await mkdir(join(retrieval, "qrels"), { recursive: true });
  for (const [path, lines] of Object.entries(files)) await writeFile(path, `${lines.join("\n")}\n`);
  return paths;
}
