import { type TokenVectors, tokenVectorsCall } from "../../../runtime/tasks/token-vectors-call.ts";
import { textsIn } from "../../contract/fields.ts";
import { TeiTokensRequest, teiResponses, teiTruncation } from "../../contract/tei.ts";
import { formatTokenVectors } from "../format-token-vectors.ts";
import { listResponse } from "../list-response.ts";
import type { TaskRoute } from "../task-route.ts";
import { describeWork } from "./describe-work.ts";

/** `POST /embed_all` of text-embeddings-inference: a vector for each token. */
export const teiEmbedAllRoute: TaskRoute<typeof TeiTokensRequest, TokenVectors[]> = {
  schema: TeiTokensRequest,
  about: {
    summary: "A vector for each token of texts, for clients of text-embeddings-inference",
    example: { inputs: ["to be"] },
    response: teiResponses.embedAll,
  },
  call: ({ inputs, prompt_name, ...wishes }) =>
    tokenVectorsCall(textsIn(inputs), { truncate: teiTruncation(wishes), prompt: prompt_name ?? undefined }),
  respond(c, answer, { inputs }) {
    const { result } = answer;
    describeWork(c, answer, textsIn(inputs));
    const item = (index: number) => formatTokenVectors(result[index] as TokenVectors);
    return listResponse(c, { count: result.length, item });
  },
};
