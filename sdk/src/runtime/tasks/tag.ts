import { taskUnsupported } from "../../artifact/manifest.ts";
import { inputTooLong } from "../input-too-long.ts";
import { sideOf } from "../truncation.ts";
import { bestOf, softmax } from "./scores.ts";
import type { CuttingOptions, ModelOutput, TaskCall } from "./task-call.ts";

export interface TagOptions extends CuttingOptions {
  /** Strategy that turns tokens into entities. Default `simple`. */
  readonly aggregationStrategy?: AggregationStrategy | undefined;
  /** Labels to leave out. They are written without B- and I-, unless the strategy is `none`. Default `O`. */
  readonly ignoreLabels?: readonly string[] | undefined;
}

/** Calls a token classifier. The result is the entities of each text. Offsets are UTF-16 indices. */
export const tagCall = (
  texts: readonly string[],
  { aggregationStrategy: strategy = "simple", ignoreLabels = ["O"], truncate = false }: TagOptions = {},
): TaskCall<Entity[][], Entity[]> => ({
  texts,
  on(manifest) {
    if (manifest.task !== "tag") throw taskUnsupported(manifest, "tag");
    const { labels, maxTokens } = manifest;
    return {
      inputs: texts,
      truncate,
      encoder: (tokenizer) => (input, index) => {
        const text = input as string;
        const placed = tokenizer.encodePlaced(text, maxTokens, sideOf(truncate, tokenizer));
        if (placed.tokens > maxTokens && !truncate) throw inputTooLong(manifest, index, placed.tokens);
        const { ids, offsets, words } = placed;
        return {
          sequences: [ids],
          read: ([logits]) =>
            entitiesOf({
              text,
              logits: logits as ModelOutput,
              labels,
              offsets,
              wordIds: words,
              wordStarts: wordStarts({ ...placed, text, unknownId: tokenizer.unknownId }),
              strategy,
              ignoreLabels,
            }).map(({ firstToken, endToken, ...entity }) => entity),
        };
      },
      decode: (entities) => [...entities],
    };
  },
});

/** A text, and its tokens. */
export interface TokensOfText {
  readonly text: string;
  /** Token ids: [tokens] */
  readonly ids: ArrayLike<number>;
  /** UTF-16 start and end of each token in the text: [tokens, 2], row-major */
  readonly offsets: Int32Array;
  /** Id of the unknown token, if the tokenizer has one. */
  readonly unknownId?: number | undefined;
  /**
   * Number of code points of each token as the vocabulary spells it, such as 5 for `##ing`: [tokens]. Only tokenizers that mark
   * continued words with a prefix (WordPiece) give it.
   */
  readonly spelled?: ArrayLike<number> | undefined;
}

/**
 * Finds the tokens that begin a word, by the rules of transformers' TokenClassificationPipeline:
 *
 * - If the vocabulary marks continued words with a prefix, a token begins a word if its spelling is as long as its part of the text.
 * - Otherwise, a token begins a word at the start of the text and next to a space. Punctuation continues the word before it.
 * - Unknown tokens always begin a word.
 *
 * @returns [tokens]
 */
export function wordStarts({ text, ids, offsets, unknownId, spelled }: TokensOfText): boolean[] {
  return Array.from(ids, (id, i) => {
    const [start, end] = [offsets[2 * i] as number, offsets[2 * i + 1] as number];
    if (id === unknownId) return true;
    if (spelled) return spelled[i] === codePoints(text.slice(start, end));
    return start === 0 || text[start - 1] === " " || text[start] === " ";
  });
}

/** Counts the code points of a text, as Python's `len` does. */
const codePoints = (text: string): number => [...text].length;

/** Strategies that turn tokens into entities: transformers' `aggregation_strategy`. */
export const aggregationStrategies = ["none", "simple", "first", "average", "max"] as const;
export type AggregationStrategy = (typeof aggregationStrategies)[number];

/** A text's tokens, and the logits that the model gave them. */
export interface TaggedText {
  readonly text: string;
  /** [tokens, labels], row-major */
  readonly logits: Float32Array;
  readonly labels: readonly string[];
  /** UTF-16 start and end of each token in the text: [tokens, 2], row-major */
  readonly offsets: Int32Array;
  /** Index of each token's word, -1 for special tokens: [tokens] */
  readonly wordIds: ArrayLike<number>;
  /** Whether each token begins a word (see `wordStarts`): [tokens]. The strategies none and simple do not read it. */
  readonly wordStarts: ArrayLike<boolean>;
  readonly strategy: AggregationStrategy;
  /** Labels to leave out. They are written without B- and I-, unless the strategy is none. */
  readonly ignoreLabels: readonly string[];
}

/** Part of a text with a label. */
export interface Entity {
  /** The label without a prefix such as B- or I-; the whole label if the strategy is none. */
  readonly label: string;
  readonly score: number;
  readonly text: string;
  /** UTF-16 offsets in the text. */
  readonly start: number;
  readonly end: number;
}

/** An entity, and its tokens. */
export interface TokenSpan extends Entity {
  /** Index of the first token, and the index after the last token. */
  readonly firstToken: number;
  readonly endToken: number;
}

/** Tokens with one label. */
type Span = Pick<TokenSpan, "label" | "score" | "firstToken" | "endToken">;

/**
 * Finds the entities of a text as transformers' TokenClassificationPipeline does. It ignores special tokens.
 *
 * - none: each token is an entity.
 * - simple: adjacent tokens are an entity if their labels are the same without B- and I-. B- begins another entity.
 * - first, average, max: like simple, but all tokens of a word have one label. It comes from the scores of the first token,
 *   from the mean scores, or from the scores of the token whose best score is highest.
 *
 * The scores of a token are a softmax over the labels. The score of an entity is the mean over its tokens (simple) or words.
 */
export function entitiesOf({
  text,
  logits,
  labels,
  offsets,
  wordIds,
  wordStarts,
  ...options
}: TaggedText): TokenSpan[] {
  const { strategy, ignoreLabels } = options;
  const tokens = Array.from({ length: wordIds.length }, (_, i) => i).filter((i) => (wordIds[i] as number) >= 0);
  const scoresOf = (i: number) => softmax(logits.subarray(i * labels.length, (i + 1) * labels.length));
  const words =
    strategy === "none" || strategy === "simple"
      ? tokens.map((i) => [i])
      : grouped(tokens, (_, token) => !wordStarts[token]);
  const combined = combinations[strategy];
  const spans = words.map((word): Span => {
    const scores = combined(word.map(scoresOf));
    const best = argmax(scores);
    const [label, score] = [labels[best] as string, scores[best] as number];
    return { label, score, firstToken: word[0] as number, endToken: (word.at(-1) as number) + 1 };
  });
  const found = strategy === "none" ? spans : grouped(spans, continues).map(joined);
  return found
    .filter(({ label }) => !ignoreLabels.includes(label))
    .map((span) => {
      const start = offsets[2 * span.firstToken] as number;
      const end = offsets[2 * span.endToken - 1] as number;
      return { ...span, text: text.slice(start, end), start, end };
    });
}

/** Splits items into runs: `joins` says whether an item belongs to the same run as the item before it. */
function grouped<Item>(items: readonly Item[], joins: (previous: Item, item: Item) => boolean): Item[][] {
  const groups: Item[][] = [];
  for (const item of items) {
    const group = groups.at(-1);
    if (group && joins(group.at(-1) as Item, item)) group.push(item);
    else groups.push([item]);
  }
  return groups;
}

const argmax = (scores: readonly number[] | Scores): number =>
  bestOf(scores.keys(), (i) => scores[i] as number, 1)[0] as number;

type Scores = Float64Array<ArrayBuffer>;
const ofFirst = (rows: readonly Scores[]): Scores => rows[0] as Scores;

/** Combines the scores of a word's tokens, each [labels]. */
const combinations: Record<AggregationStrategy, (rows: readonly Scores[]) => Scores> = {
  none: ofFirst,
  simple: ofFirst,
  first: ofFirst,
  average: (rows) =>
    ofFirst(rows).map((_, label) => rows.reduce((sum, row) => sum + (row[label] as number), 0) / rows.length),
  max: (rows) => rows[argmax(rows.map((row) => Math.max(...row)))] as Scores,
};

/** Returns a label without B- or I-. */
const tagOf = (label: string): string => label.replace(/^[BI]-/, "");
/** Whether a label continues the entity before it. A label without B- or I- continues an entity as I- does. */
const continues = (previous: Span, { label }: Span): boolean =>
  !label.startsWith("B-") && tagOf(label) === tagOf(previous.label);

/** Joins spans to one entity. Removes from its label any prefix up to the first hyphen, not only B- and I-. */
function joined(spans: readonly Span[]): Span {
  const [first, last] = [spans[0] as Span, spans.at(-1) as Span];
  return {
    label: first.label.slice(first.label.indexOf("-") + 1),
    score: spans.reduce((sum, { score }) => sum + score, 0) / spans.length,
    firstToken: first.firstToken,
    endToken: last.endToken,
  };
}
