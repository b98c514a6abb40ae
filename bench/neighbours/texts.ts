import { readSts } from "#sdk/compile/accuracy/tasks/sts.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { readRetrieval } from "../eval/retrieval/read-retrieval.ts";

/** Texts among which neighbours are searched. */
export interface TextSet {
  /** Key in docs/neighbours.json. */
  readonly id: "sts" | "scifact";
  readonly title: string;
  /** Kind of its texts, such as `abstracts`. */
  readonly kind: string;
  /** Different texts in random order, so that each part of them has texts of all lengths. */
  readonly texts: readonly string[];
  /** Number of different texts in the data set. If it is larger, `texts` are a sample. */
  readonly available: number;
}

/** Where the data sets are. */
export interface TextFiles {
  /** Pairs of sentences, as STS-B's sts-test.csv. */
  readonly sts: string;
  /** Folder with SciFact's corpus.jsonl. */
  readonly scifact: string;
}

/** Number of abstracts: they have as many tokens as the model reads, and take ten times as long as sentences. */
const ABSTRACTS = 600;

/** A fixed seed: each run measures the same texts. */
const SEED = 20_261_129;

/**
 * Reads the texts of both sets.
 *
 * @param limit maximum number of texts of a set. Default: all sentences, and a sample of the abstracts
 */
export async function readTexts({ sts, scifact }: TextFiles, limit = Number.POSITIVE_INFINITY): Promise<TextSet[]> {
  const sentences = (await readSts(sts)).flatMap(({ first, second }) => [first, second]);
  const { documents } = await readRetrieval(scifact);
  return [
    { id: "sts", title: "STS-B", kind: "test sentences", ...sampleOf(sentences, limit) },
    { id: "scifact", title: "SciFact", kind: "abstracts", ...sampleOf(documents.values(), Math.min(limit, ABSTRACTS)) },
  ];
}

/** Shuffles the different texts (Fisher and Yates), and takes the first ones. */
function sampleOf(all: Iterable<string>, limit: number): Pick<TextSet, "texts" | "available"> {
  const texts = [...new Set(all)];
  const random = randomNumbers(SEED);
  for (let i = texts.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [texts[i], texts[other]] = [texts[other] as string, texts[i] as string];
  }
  return { texts: texts.slice(0, limit), available: texts.length };
}
