import type { SparseEntries } from "../../../runtime/tasks/sparse.ts";
import { sparseCall } from "../../../runtime/tasks/sparse-call.ts";
import { textsIn } from "../../contract/fields.ts";
import { TeiTokensRequest, teiResponses, teiTruncation } from "../../contract/tei.ts";
import { listResponse } from "../list-response.ts";
import type { TaskRoute } from "../task-route.ts";
import { describeWork } from "./describe-work.ts";

/** `POST /embed_sparse` of text-embeddings-inference. */
export const teiEmbedSparseRoute: TaskRoute<typeof TeiTokensRequest, SparseEntries[]> = {
  schema: TeiTokensRequest,
  about: {
    summary: "Sparse vectors of texts, for clients of text-embeddings-inference",
    example: { inputs: ["to be"] },
    response: teiResponses.embedSparse,
  },
  call: ({ inputs, prompt_name, ...wishes }) =>
    sparseCall(textsIn(inputs), { truncate: teiTruncation(wishes), prompt: prompt_name ?? undefined }),
  respond(c, answer, { inputs }) {
    const { result } = answer;
    describeWork(c, answer, textsIn(inputs));
    const item = (position: number) => {
      const { indices, values } = result[position] as SparseEntries;
      return JSON.stringify(indices.map((index, i) => ({ index, value: values[i] })));
    };
    return listResponse(c, { count: result.length, item });
  },
};
