import * as v from "valibot";
import { type Entity, tagCall } from "../../runtime/tasks/tag.ts";
import { ownAnswer, ownBody, Texts, Truncate, textsIn } from "../contract/fields.ts";
import { codePointsBefore } from "../routes/code-points.ts";
import { answerFields, type TaskRoute } from "../routes/task-route.ts";

/** The body of `POST /v1/tag`. */
export const TagRequest = ownBody({
  inputs: Texts,
  /** How tokens become entities, as in transformers. */
  aggregation_strategy: v.optional(v.picklist(["none", "simple", "first", "average", "max"]), "simple"),
  /** Labels that are left out, without B- and I- unless the strategy is `none`. */
  ignore_labels: v.optional(v.array(v.string()), ["O"]),
  truncate: Truncate,
});
export type TagRequest = v.InferInput<typeof TagRequest>;

/** Part of an input with a label. Offsets count Unicode code points, as in transformers. */
const EntityResult = v.object({
  label: v.string(),
  score: v.number(),
  text: v.string(),
  start: v.number(),
  end: v.number(),
});
export type EntityResult = v.InferOutput<typeof EntityResult>;

export const TagResponse = ownAnswer({
  /** The entities of each input, in the order of the text. */
  results: v.array(v.array(EntityResult)),
});
export type TagResponse = v.InferOutput<typeof TagResponse>;

/** `POST /v1/tag` */
export const tagRoute: TaskRoute<typeof TagRequest, Entity[][]> = {
  schema: TagRequest,
  about: {
    summary: "Entities in texts",
    example: { inputs: "Anna works in New York." },
    response: TagResponse,
  },
  call: ({ inputs, aggregation_strategy, ignore_labels, truncate }) =>
    tagCall(textsIn(inputs), { strategy: aggregation_strategy, ignoreLabels: ignore_labels, truncate }),
  respond(c, answer, { inputs }) {
    const results = textsIn(inputs).map((text, i) => entityResults(text, answer.result[i] as Entity[]));
    return c.json<TagResponse>({ ...answerFields(answer), results });
  },
};

/** Describes the entities of a text, with offsets in code points. */
export function entityResults(text: string, entities: readonly Entity[]): EntityResult[] {
  const position = codePointsBefore(text);
  return entities.map(({ label, score, text: part, start, end }) => ({
    label,
    score,
    text: part,
    start: position(start),
    end: position(end),
  }));
}
