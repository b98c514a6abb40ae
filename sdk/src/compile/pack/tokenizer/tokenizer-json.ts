import * as v from "valibot";
import { PostProcessor } from "../../../runtime/tokenizer/post-processor.ts";

// Schemas of the parts of tokenizer.json that all kinds of tokenizers share.

const Id = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/**
 * Schema of a vocabulary: ids by token. A token can be any text, even "constructor". v.record is not used, because it
 * drops such names.
 */
export const Vocabulary = v.custom<Record<string, number>>(
  (value) => typeof value === "object" && value !== null && Object.values(value).every((id) => v.is(Id, id)),
);

const AddedToken = v.object({
  content: v.string(),
  single_word: v.boolean(),
  lstrip: v.boolean(),
  rstrip: v.boolean(),
  normalized: v.boolean(),
  special: v.boolean(),
});

export const common = {
  added_tokens: v.optional(v.array(AddedToken), []),
  post_processor: PostProcessor,
} as const;

const CommonJson = v.object(common);
export type CommonJson = v.InferOutput<typeof CommonJson>;
