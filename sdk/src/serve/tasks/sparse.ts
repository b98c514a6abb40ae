import * as v from "valibot";
import { sparseCall } from "../../runtime/tasks/sparse.ts";
import { ownAnswer, ownBody, PromptName, Texts, Truncate } from "../contract/fields.ts";
import { type Route, taskAt } from "../routes/dialect.ts";
import { listResponse } from "../routes/list-response.ts";
import { answerFields } from "../routes/task-route.ts";

/** The body of `POST /v1/sparse`. */
export const SparseRequest = ownBody({ inputs: Texts, truncate: Truncate, prompt_name: PromptName });
export type SparseRequest = v.InferInput<typeof SparseRequest>;

export const SparseResponse = ownAnswer({
  /** The weights above 0 of each input. The indices are token ids, and rise. */
  embeddings: v.array(v.object({ indices: v.array(v.number()), values: v.array(v.number()) })),
});
export type SparseResponse = v.InferOutput<typeof SparseResponse>;

export const sparseRoute: Route = taskAt("/v1/sparse", {
  schema: SparseRequest,
  summary: "Sparse vectors of texts (SPLADE)",
  example: { inputs: "to be" },
  response: SparseResponse,
  call: ({ inputs, truncate, prompt_name }) => sparseCall(inputs, { truncate, prompt: prompt_name }),
  respond: (c, answer) =>
    listResponse(c, answer.result, (weights) => JSON.stringify(weights), {
      ...answerFields(answer),
      embeddings: [],
    } satisfies SparseResponse),
});
