import * as v from "valibot";
import { sparseCall } from "../../runtime/tasks/sparse.ts";
import { bodyOf, ownAnswer, PromptName, Texts, Truncate } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { listResponse } from "../routes/in-parts.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

export const sparseRoute = taskAt("/v1/sparse", {
  task: "sparse",
  schema: bodyOf({ inputs: Texts, truncate: Truncate, prompt_name: PromptName }),
  summary: "Sparse vectors of texts (SPLADE)",
  example: { inputs: "to be" },
  response: ownAnswer({
    /** The weights above 0 of each input. The indices are token ids in ascending order. */
    embeddings: v.array(v.object({ indices: v.array(v.number()), values: v.array(v.number()) })),
  }),
  call: ({ inputs, ...options }) => sparseCall(inputs, camelCase(options)),
  respond: (answer, _, c) =>
    listResponse(c, answer.result, (weights) => JSON.stringify(weights), { ...answerFields(answer), embeddings: [] }),
});

/** The body of `POST /v1/sparse`. */
export type SparseRequest = v.InferInput<typeof sparseRoute.schema>;
export type SparseResponse = v.InferOutput<typeof sparseRoute.response>;
