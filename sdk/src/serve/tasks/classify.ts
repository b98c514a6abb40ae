import * as v from "valibot";
import { classifyCall } from "../../runtime/tasks/classify.ts";
import { bodyOf, ownAnswer, PositiveInteger, ScoredLabel, Truncate } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

const Input = v.union(
  [v.string(), v.object({ text: v.string(), text_pair: v.string() })],
  "must be a string, or an object with `text` and `text_pair`",
);

/** Values of transformers' `function_to_apply`. */
export const FunctionToApply = v.picklist(["softmax", "sigmoid", "none"]);

export type LabelResult = v.InferOutput<typeof ScoredLabel>;

export const classifyRoute = taskAt("/v1/classify", {
  task: "classify",
  schema: bodyOf({
    inputs: v.union(
      [Input, v.array(Input)],
      "must be a string, an object with `text` and `text_pair`, or a list of these",
    ),
    truncate: Truncate,
    /** Maximum number of labels per input. Default: all. */
    top_k: v.optional(PositiveInteger),
    /** Function from logits to scores. Default: that of the model, as in transformers. */
    function_to_apply: v.optional(FunctionToApply),
  }),
  summary: "Labels of texts, or of pairs of texts",
  example: { inputs: "to be" },
  response: ownAnswer({
    /** The labels of each input, best first. */
    results: v.array(v.array(ScoredLabel)),
  }),
  call: ({ inputs, ...options }) => classifyCall(camelCase([inputs].flat()), camelCase(options)),
  respond: (answer) => ({ ...answerFields(answer), results: answer.result }),
});

/** The body of `POST /v1/classify`. */
export type ClassifyRequest = v.InferInput<typeof classifyRoute.schema>;
export type ClassifyResponse = v.InferOutput<typeof classifyRoute.response>;
