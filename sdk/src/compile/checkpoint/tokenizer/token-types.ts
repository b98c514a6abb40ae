import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";

/** A special token and its id. */
type SpecialToken = readonly [token: string, id: number];

/** Settings of a template that joins the two texts of a pair. */
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

const Typed = v.object({ type_id: v.number() });
const TypedPiece = v.union([v.object({ SpecialToken: Typed }), v.object({ Sequence: Typed })]);
const TypedTemplate = v.object({ type: v.literal("TemplateProcessing"), single: v.array(TypedPiece) });
const Processors = v.object({ processors: v.array(v.unknown()) });
const WithProcessor = v.object({ post_processor: v.unknown() });

/**
 * Checks that all tokens of a single text have the token type 0.
 *
 * @param json content of tokenizer.json
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertTextTypes(json: object): void {
  const { post_processor: processor } = v.parse(v.fallback(WithProcessor, { post_processor: undefined }), json);
  const steps = v.is(Processors, processor) ? processor.processors : [processor];
  const types = steps.flatMap((step) => (v.is(TypedTemplate, step) ? step.single.map(typeOf) : []));
  if (types.every((type) => type === 0)) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    "tokenizer.json: post_processor gives tokens of a single text a token type other than 0, which is not supported so far.",
    { hint: "Set type_id to 0 in `single`, if the model was trained with the token type 0." },
  );
}

const typeOf = (piece: v.InferOutput<typeof TypedPiece>): number =>
  "Sequence" in piece ? piece.Sequence.type_id : piece.SpecialToken.type_id;

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
