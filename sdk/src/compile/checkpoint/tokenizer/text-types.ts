import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";

const Typed = v.object({ type_id: v.number() });
const Piece = v.union([v.object({ SpecialToken: Typed }), v.object({ Sequence: Typed })]);
const Template = v.object({ type: v.literal("TemplateProcessing"), single: v.array(Piece) });
const Sequence = v.object({ processors: v.array(v.unknown()) });
const Json = v.object({ post_processor: v.unknown() });

/**
 * Checks that all tokens of a single text have the token type 0.
 *
 * @param json content of tokenizer.json
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertTextTypes(json: object): void {
  const { post_processor: processor } = v.parse(v.fallback(Json, { post_processor: undefined }), json);
  const steps = v.is(Sequence, processor) ? processor.processors : [processor];
  const types = steps.flatMap((step) => (v.is(Template, step) ? step.single.map(typeOf) : []));
  if (types.every((type) => type === 0)) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    "tokenizer.json: post_processor gives tokens of a single text the token type 1, which is not supported so far.",
    { hint: "Set type_id to 0 in `single`, if the model was trained with it." },
  );
}

const typeOf = (piece: v.InferOutput<typeof Piece>): number =>
  "Sequence" in piece ? piece.Sequence.type_id : piece.SpecialToken.type_id;
