import type { SparseEntries } from "../../runtime/tasks/sparse.ts";
import { sparseCall } from "../../runtime/tasks/sparse-call.ts";
import { textsIn } from "../contract/fields.ts";
import { SparseRequest, SparseResponse } from "../contract/sparse.ts";
import { answerFields } from "./answer-fields.ts";
import { listResponse } from "./list-response.ts";
import type { TaskRoute } from "./task-route.ts";

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
