import type { PairTokens } from "./pair-tokens.ts";
import type { PostProcessor, Template } from "./post-processor.ts";

/** Token ids that a tokenizer puts around one text, and around two texts if it can encode pairs. */
export interface SpecialTokens {
  readonly prefix: number[];
  readonly suffix: number[];
  readonly pair?: PairTokens;
}

/**
 * Returns the ids of the special tokens that are added to each text, and to each pair of texts. Returns undefined if the
 * template for one text has no place for the text, or has a special token without an id. `pair` is missing if
 * `PairTokens` cannot describe the template for two texts.
 */
export function specialTokens(processor: PostProcessor): SpecialTokens | undefined {
  // Without a template, Hugging Face's Rust tokenizers put the texts side by side, with token types 0 and 1.
  if (!processor) return { prefix: [], suffix: [], pair: { prefix: [], separator: [], suffix: [], secondFrom: 0 } };
  if (processor.type !== "TemplateProcessing") {
    const [prefix, suffix] = [[processor.cls[1]], [processor.sep[1]]];
    const isRoberta = processor.type === "RobertaProcessing";
    const separator = isRoberta ? [...suffix, ...suffix] : suffix;
    return { prefix, suffix, pair: { prefix, separator, suffix, ...(!isRoberta && { secondFrom: separator.length }) } };
  }
  const { single, pair, special_tokens } = processor;
  const idsOf = (pieces: Template) => {
    const ids = pieces.map((piece) =>
      "SpecialToken" in piece ? special_tokens[piece.SpecialToken.id]?.ids : undefined,
    );
    return ids.includes(undefined) ? undefined : ids.flatMap((each) => each ?? []);
  };
  const text = single.findIndex((piece) => "Sequence" in piece);
  const [prefix, suffix] = [idsOf(single.slice(0, Math.max(0, text))), idsOf(single.slice(text + 1))];
  if (text < 0 || !prefix || !suffix) return undefined;
  const tokens = pair && pairTokens(pair, idsOf);
  return { prefix, suffix, ...(tokens && { pair: tokens }) };
}

/** Returns the special tokens that a template puts around two texts; undefined if `PairTokens` cannot describe the template. */
function pairTokens(pair: Template, idsOf: (pieces: Template) => number[] | undefined): PairTokens | undefined {
  const [first, second] = ["A", "B"].map((id) =>
    pair.findIndex((piece) => "Sequence" in piece && piece.Sequence.id === id),
  ) as [number, number];
  if (first < 0 || second < first) return undefined;
  const between = pair.slice(first + 1, second);
  const [prefix, separator, suffix] = [idsOf(pair.slice(0, first)), idsOf(between), idsOf(pair.slice(second + 1))];
  const types = pair.map((piece) => ("Sequence" in piece ? piece.Sequence : piece.SpecialToken).type_id);
  const changes = types.indexOf(1);
  if (!prefix || !separator || !suffix) return undefined;
  if (types.every((type) => type === 0)) return { prefix, separator, suffix };
  if (changes <= first || changes > second || types.some((type, i) => type !== Number(i >= changes))) return undefined;
  return { prefix, separator, suffix, secondFrom: idsOf(pair.slice(first + 1, changes))?.length ?? 0 };
}
