import * as v from "valibot";

// Schema of `post_processor` in tokenizer.json, which puts special tokens around texts.

const Id = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const TokenAndId = v.tuple([v.string(), Id]);

const template = <const T extends string>(texts: readonly T[]) =>
  v.array(
    v.union([
      v.object({ SpecialToken: v.object({ id: v.string(), type_id: v.number() }) }),
      v.object({ Sequence: v.object({ id: v.picklist(texts), type_id: v.number() }) }),
    ]),
  );
const PairTemplate = template(["A", "B"]);

const ByteLevel = v.object({ type: v.literal("ByteLevel") });
const SpecialTokensProcessor = v.variant("type", [
  v.object({ type: v.picklist(["BertProcessing", "RobertaProcessing"]), cls: TokenAndId, sep: TokenAndId }),
  v.object({
    type: v.literal("TemplateProcessing"),
    single: template(["A"]),
    /** An unusable template for two texts is ignored: the tokenizer can still encode single texts. */
    pair: v.fallback(v.optional(PairTemplate), undefined),
    special_tokens: v.record(v.string(), v.object({ ids: v.array(Id) })),
  }),
]);
type SpecialTokensProcessor = v.InferOutput<typeof SpecialTokensProcessor>;

const isByteLevel = (processor: { readonly type: string }): processor is { readonly type: "ByteLevel" } =>
  processor.type === "ByteLevel";

/** Accepts one processor of special tokens, alone or in a Sequence. ByteLevel changes only offsets, so it is left out. */
export const PostProcessor = v.pipe(
  v.nullish(
    v.union([
      SpecialTokensProcessor,
      ByteLevel,
      v.object({ type: v.literal("Sequence"), processors: v.array(v.union([SpecialTokensProcessor, ByteLevel])) }),
    ]),
  ),
  v.transform((given): readonly SpecialTokensProcessor[] => {
    const processors = !given ? [] : given.type === "Sequence" ? given.processors : [given];
    return processors.filter((each): each is SpecialTokensProcessor => !isByteLevel(each));
  }),
  v.maxLength(1),
  v.transform(([only]) => only),
);

/** The processor that adds special tokens; undefined if there is none. */
export type PostProcessor = v.InferOutput<typeof PostProcessor>;
export type Template = v.InferOutput<typeof PairTemplate>;
