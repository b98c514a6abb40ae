import * as v from "valibot";
import { aggregationStrategies, tagCall } from "../../runtime/tasks/tag.ts";
import { bodyOf, ownAnswer, Texts, Truncate } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { inCodePoints } from "../routes/code-points.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

/** Part of an input with a label. Offsets count Unicode code points, as in transformers. */
const EntityResult = v.object({
  label: v.string(),
  score: v.number(),
  text: v.string(),
  start: v.number(),
  end: v.number(),
});
export type EntityResult = v.InferOutput<typeof EntityResult>;

export const tagRoute = taskAt("/v1/tag", {
  task: "tag",
  schema: bodyOf({
    inputs: Texts,
    /** Strategy to combine tokens into entities, as in transformers. */
    aggregation_strategy: v.optional(v.picklist(aggregationStrategies), "simple"),
    /** Labels to leave out. Unless the strategy is `none`, they have no prefix B- or I-. */
    ignore_labels: v.optional(v.array(v.string()), ["O"]),
    truncate: Truncate,
  }),
  summary: "Entities in texts",
  example: { inputs: "Anna works in New York." },
  response: ownAnswer({
    /** The entities of each input, in the order of the text. */
    results: v.array(v.array(EntityResult)),
  }),
  call: ({ inputs, ...options }) => tagCall(inputs, camelCase(options)),
  respond(answer, { inputs }) {
    const results = answer.result.map((entities, i) => inCodePoints(inputs[i] ?? "", entities));
    return { ...answerFields(answer), results };
  },
});

/** The body of `POST /v1/tag`. */
export type TagRequest = v.InferInput<typeof tagRoute.schema>;
export type TagResponse = v.InferOutput<typeof tagRoute.response>;
