import type { Entity } from "../../runtime/tasks/tag.ts";
import { tagCall } from "../../runtime/tasks/tag-call.ts";
import { textsIn } from "../contract/fields.ts";
import { type EntityResult, TagRequest, TagResponse } from "../contract/tag.ts";
import { answerFields } from "./answer-fields.ts";
import { codePointsBefore } from "./code-points.ts";
import type { TaskRoute } from "./task-route.ts";

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
