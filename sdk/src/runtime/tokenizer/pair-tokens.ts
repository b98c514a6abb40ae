import * as v from "valibot";

const Ids = v.array(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));

/** Schema of the token ids that are put around two texts: before the first, between both, and after the second. */
export const PairTokens = v.object({
  prefix: Ids,
  separator: Ids,
  suffix: Ids,
  /**
   * Number of ids of `separator` that have token type 0, like all tokens before them. All tokens after them have type 1.
   * Missing if all tokens have type 0.
   */
  secondFrom: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
});

export type PairTokens = v.InferOutput<typeof PairTokens>;
