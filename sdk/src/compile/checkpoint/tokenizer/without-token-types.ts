import * as v from "valibot";
import { templateAround } from "./template.ts";

const Processor = v.looseObject({ type: v.string() });
type Processor = v.InferOutput<typeof Processor>;
const Json = v.object({ post_processor: v.nullish(Processor) });
const Sequence = v.object({ type: v.literal("Sequence"), processors: v.array(Processor) });
const Bert = v.object({
  type: v.literal("BertProcessing"),
  cls: v.tuple([v.string(), v.number()]),
  sep: v.tuple([v.string(), v.number()]),
});
const Template = v.looseObject({ type: v.literal("TemplateProcessing"), pair: v.optional(v.array(v.unknown())) });
const Piece = v.union([
  v.object({ SpecialToken: v.object({ id: v.string() }) }),
  v.object({ Sequence: v.object({ id: v.string() }) }),
]);

/**
 * Gives all tokens of a pair the token type 0. Models whose tokenizer returns no token types compute pairs that way.
 *
 * @param json content of tokenizer.json
 */
export function withoutTokenTypes(json: object): object {
  const { post_processor } = v.parse(v.fallback(Json, {}), json);
  return { ...json, post_processor: processorWithout(post_processor ?? undefined) };
}

function processorWithout(processor: Processor | undefined): Processor {
  if (!processor) return plain;
  if (v.is(Sequence, processor)) {
    const { processors } = v.parse(Sequence, processor);
    const changed = processors.map((each) => (each.type === "ByteLevel" ? each : processorWithout(each)));
    return {
      ...processor,
      processors: changed.some(({ type }) => type !== "ByteLevel") ? changed : [...changed, plain],
    };
  }
  if (processor.type === "ByteLevel") return { type: "Sequence", processors: [processor, plain] };
  if (v.is(Bert, processor)) {
    return templateAround(processor.cls, processor.sep, { separators: 1, secondType: 0 });
  }
  if (!v.is(Template, processor)) return processor;
  return { ...processor, pair: processor.pair?.map(ofTypeZero) };
}

/** Puts texts side by side, as a tokenizer without a post-processor does. */
const plain = {
  type: "TemplateProcessing",
  single: [{ Sequence: { id: "A", type_id: 0 } }],
  pair: ["A", "B"].map((id) => ({ Sequence: { id, type_id: 0 } })),
  special_tokens: {},
};

function ofTypeZero(piece: unknown): unknown {
  if (!v.is(Piece, piece)) return piece;
  return "Sequence" in piece
    ? { Sequence: { ...piece.Sequence, type_id: 0 } }
    : { SpecialToken: { ...piece.SpecialToken, type_id: 0 } };
}
