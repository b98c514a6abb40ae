import * as v from "valibot";
import { type SparseEntries, sparseCall } from "../../runtime/tasks/sparse.ts";
import { ownAnswer, ownBody, PromptName, Texts, Truncate, textsIn } from "../contract/fields.ts";
import { listResponse } from "../routes/list-response.ts";
import { answerFields, type TaskRoute } from "../routes/task-route.ts";

/** The body of `POST /v1/sparse`. */
export const SparseRequest = ownBody({ inputs: Texts, truncate: Truncate, prompt_name: PromptName });
export type SparseRequest = v.InferInput<typeof SparseRequest>;

export const SparseResponse = ownAnswer({
  /** The weights above 0 of each input. The indices are token ids, and rise. */
  embeddings: v.array(v.object({ indices: v.array(v.number()), values: v.array(v.number()) })),
});
export type SparseResponse = v.InferOutput<typeof SparseResponse>;

/** `POST /v1/sparse` */
export const sparseRoute: TaskRoute<typeof SparseRequest, SparseEntries[]> = {
  schema: SparseRequest,
  about: {
    summary: "Sparse vectors of texts (SPLADE)",
    example: { inputs: "to be" },
    response: SparseResponse,
  },
  call: ({ inputs, truncate, prompt_name }) => sparseCall(textsIn(inputs), { truncate, prompt: prompt_name }),
  respond(c, answer) {
    const { result } = answer;
    const response: SparseResponse = { ...answerFields(answer), embeddings: [] };
    const item = (index: number) => JSON.stringify(result[index]);
    return listResponse(c, { frame: { body: response, list: "embeddings" }, count: result.length, item });
  },
};
