/** A special token and its id. */
export type SpecialToken = readonly [token: string, id: number];

/** How a template joins both texts of a pair. */
interface Joint {
  /** Number of special tokens between both texts. */
  readonly separators: 1 | 2;
  /** Token type of the second text, and of the special token after it. */
  readonly secondType: 0 | 1;
}

/** Returns tokenizer.json's post-processor that puts a special token before a text, and another one after it. */
export function templateAround(
  first: SpecialToken,
  last: SpecialToken,
  { separators, secondType }: Joint,
): { type: "TemplateProcessing" } & Readonly<Record<string, unknown>> {
  const special = ([id]: SpecialToken, type_id = 0) => ({ SpecialToken: { id, type_id } });
  const text = (id: "A" | "B", type_id = 0) => ({ Sequence: { id, type_id } });
  const single = [special(first), text("A"), special(last)];
  return {
    type: "TemplateProcessing",
    single,
    pair: [
      ...single,
      ...(separators === 2 ? [special(last)] : []),
      ...[text("B", secondType), special(last, secondType)],
    ],
    special_tokens: Object.fromEntries([first, last].map(([id, number]) => [id, { id, ids: [number], tokens: [id] }])),
  };
}
