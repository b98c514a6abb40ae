import type { CommonJson } from "./tokenizer-json.ts";

/**
 * Returns the ids of the special tokens that are added before and after each text. Returns undefined if the template
 * has no place for the text, or has a special token without an id.
 */
export function specialTokens({
  post_processor: processor,
}: Pick<CommonJson, "post_processor">): { prefix: number[]; suffix: number[] } | undefined {
  if (!processor) return { prefix: [], suffix: [] };
  if (processor.type !== "TemplateProcessing") return { prefix: [processor.cls[1]], suffix: [processor.sep[1]] };
  const { single, special_tokens } = processor;
  const text = single.findIndex((piece) => "Sequence" in piece);
  const ids = (pieces: typeof single) =>
    pieces.map((piece) => ("SpecialToken" in piece ? special_tokens[piece.SpecialToken.id]?.ids : undefined));
  const [before, after] = [ids(single.slice(0, text)), ids(single.slice(text + 1))];
  const known = (each: (number[] | undefined)[]): each is number[][] => !each.includes(undefined);
  return text >= 0 && known(before) && known(after) ? { prefix: before.flat(), suffix: after.flat() } : undefined;
}
