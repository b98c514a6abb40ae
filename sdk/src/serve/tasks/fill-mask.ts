import * as v from "valibot";
import { fillMaskCall } from "../../runtime/tasks/fill-mask.ts";
import { bodyOf, countUpTo, ownAnswer, Texts, Truncate } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

/** Maximum number of results for a mask token. */
export const MAX_TOKENS_PER_MASK = 100;

export const MaskTarget = v.pipe(v.string(), v.maxLength(200, "must have at most 200 characters"));
export const Targets = v.pipe(
  v.array(MaskTarget),
  v.minLength(1, "must have at least one token"),
  v.maxLength(1_000, "must have at most 1,000 tokens"),
);

const MaskResult = v.object({
  token: v.string(),
  token_id: v.number(),
  score: v.number(),
  /** The input with this token in place of the mask token. With several mask tokens, special tokens are shown too. */
  sequence: v.string(),
});
export type MaskResult = v.InferOutput<typeof MaskResult>;

export const fillMaskRoute = taskAt("/v1/fill-mask", {
  task: "fill-mask",
  schema: bodyOf({
    /** Texts with the model's mask token, such as `[MASK]`, at least once. */
    inputs: Texts,
    /** Maximum number of results for each mask token. */
    top_k: v.optional(countUpTo(MAX_TOKENS_PER_MASK), 5),
    /** Tokens from which to choose the results. A word with several tokens stands for its first token. Default: all tokens. */
    targets: v.optional(Targets),
    truncate: Truncate,
  }),
  summary: "Words in place of mask tokens",
  example: { inputs: "Anna works in [MASK] York." },
  response: ownAnswer({
    /** For each input, and for each of its mask tokens: the most probable tokens, best first. */
    results: v.array(v.array(v.array(MaskResult))),
  }),
  call: ({ inputs, ...options }) => fillMaskCall(inputs, camelCase(options)),
  respond: (answer) => ({
    ...answerFields(answer),
    results: answer.result.map((masks) =>
      masks.map((found) => found.map(({ tokenId, ...rest }) => ({ ...rest, token_id: tokenId }))),
    ),
  }),
});

/** The body of `POST /v1/fill-mask`. */
export type FillMaskRequest = v.InferInput<typeof fillMaskRoute.schema>;
export type FillMaskResponse = v.InferOutput<typeof fillMaskRoute.response>;
