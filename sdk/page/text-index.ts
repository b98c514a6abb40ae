import type { Answers } from "./answers.ts";
import type { Info } from "./connection.ts";
import type { Requests } from "./requests.ts";

/** Assumed characters per token, and special tokens of a text. */
const [CHARACTERS_PER_TOKEN, SPECIAL_TOKENS] = [4, 2];
/** Tokens of the texts that `cpu_limit_texts` counts. */
const SHORT_TOKENS = 16;

/** Vectors of texts, and the version of the model that computed them. */
interface IndexedTexts {
  readonly version: string;
  readonly texts: readonly string[];
  readonly vectors: readonly Float32Array[];
}

export interface TextIndex {
  /** Returns the vectors of texts. Searches that come while they are computed wait for the same answer. */
  of(texts: readonly string[]): Promise<IndexedTexts>;
  /** Returns vectors of the same texts that are newer than the given ones, because the model has a new version. */
  newerThan(old: IndexedTexts): Promise<IndexedTexts>;
  /** Returns the vectors that were asked for last, when they have come; undefined before, and if they could not be computed. */
  latest(): Promise<IndexedTexts | undefined>;
}

/** Keeps the vectors of the texts that were searched last. */
export function textIndex(info: Info, requests: Requests, answers: () => Answers): TextIndex {
  let latest: { readonly texts: string; readonly indexed: Promise<IndexedTexts> } | undefined;

  function compute(texts: readonly string[]): Promise<IndexedTexts> {
    const batchSize = textsPerRequest(info, texts);
    const indexed = requests
      .send("index", () => answers().embed(texts, "none", batchSize))
      .then(({ result, version }) => ({ version, texts, vectors: result }));
    const entry = { texts: texts.join("\n"), indexed };
    latest = entry;
    // The next search tries again.
    indexed.catch(() => {
      if (latest === entry) latest = undefined;
    });
    return indexed;
  }

  return {
    of: (texts) => (latest?.texts === texts.join("\n") ? latest.indexed : compute(texts)),
    async newerThan(old) {
      const indexed = await latest?.indexed;
      // Another search may have asked for the new version's vectors already.
      return indexed && indexed !== old && indexed.texts === old.texts ? indexed : compute(old.texts);
    },
    latest: async () => latest?.indexed.catch(() => undefined),
  };
}

/** Estimates how many of some texts fit into one request; all of them without a CPU limit. */
export function textsPerRequest({ cpu_limit_texts: limit }: Info, texts: readonly string[]): number {
  if (limit === undefined) return Math.max(1, texts.length);
  const lengths = texts.map((text) => SPECIAL_TOKENS + Math.ceil(text.length / CHARACTERS_PER_TOKEN));
  return Math.max(1, Math.floor((limit * SHORT_TOKENS) / Math.max(SHORT_TOKENS, ...lengths)));
}
