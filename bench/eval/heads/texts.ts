import { readFile } from "node:fs/promises";
import { readLabelled } from "#sdk/compile/accuracy/tasks/classification.ts";
import { readSts } from "#sdk/compile/accuracy/tasks/sts.ts";
import { sharedFile } from "../shared-file.ts";

/** Number of inputs that each head answers. */
const INPUTS = 500;

interface Squad {
  readonly data: readonly {
    readonly paragraphs: readonly {
      readonly context: string;
      readonly qas: readonly { readonly question: string }[];
    }[];
  }[];
}

/** Inputs for the heads: sentences of different kinds, `INPUTS` of each, from the data sets in ../shared. */
export interface HeadTexts {
  /** Film reviews of SST-2. */
  readonly reviews: readonly string[];
  readonly sentences: readonly string[];
  readonly pairs: readonly (readonly [string, string])[];
  /** Posts of WNUT17, with names and unusual characters. */
  readonly posts: readonly string[];
  readonly questions: readonly (readonly [question: string, context: string])[];
}

/** @throws DataMissing without one of the data sets */
export async function readHeadTexts(): Promise<HeadTexts> {
  const [reviews, pairs] = [
    await readLabelled(sharedFile("data/sst2/dev.tsv"), ["negative", "positive"]),
    await readSts(sharedFile("data/stsb/sts-test.csv")),
  ];
  const posts = (await readFile(sharedFile("data/wnut17/emerging.test.annotated"), "utf8")).split(/\n\s*\n/);
  const squad = JSON.parse(await readFile(sharedFile("data/squad/dev-v1.1.json"), "utf8")) as Squad;
  const questions = squad.data.flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ context, qas }) => qas.map(({ question }) => [question, context] as const)),
  );
  return {
    reviews: spread(reviews.map(({ text }) => text)),
    sentences: spread([...new Set(pairs.map(({ first }) => first))]),
    pairs: spread(pairs.map(({ first, second }) => [first, second] as const)),
    posts: spread(posts.map(textOfPost).filter((text) => text !== "")),
    questions: spread(questions),
  };
}

/** Joins the words of a post, which are the first column of its lines. */
const textOfPost = (lines: string): string =>
  lines
    .split("\n")
    .map((line) => line.split("\t")[0])
    .filter(Boolean)
    .join(" ");

/** Chooses `INPUTS` of them, at equal distances. */
const spread = <T>(texts: readonly T[]): T[] =>
  Array.from({ length: INPUTS }, (_, i) => texts[Math.floor((i * texts.length) / INPUTS)] as T);
