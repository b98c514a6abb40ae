import { embedCall } from "../../../runtime/tasks/embed-call.ts";
import { embedInputsIn } from "../../contract/fields.ts";
import { formatVector } from "../../contract/format-vector.ts";
import { TeiEmbedRequest, teiResponses, teiTruncation } from "../../contract/tei.ts";
import { listResponse } from "../list-response.ts";
import type { TaskRoute } from "../task-route.ts";
import { describeWork } from "./describe-work.ts";

/** `POST /embed` of text-embeddings-inference. */
export const teiEmbedRoute: TaskRoute<typeof TeiEmbedRequest, Float32Array<ArrayBuffer>[]> = {
  schema: TeiEmbedRequest,
  about: {
    summary: "Vectors of texts, for clients of text-embeddings-inference",
    example: { inputs: ["to be"] },
    response: teiResponses.embed,
  },
  call: ({ inputs, normalize, prompt_name, dimensions, ...wishes }) =>
    embedCall(embedInputsIn(inputs), {
      truncate: teiTruncation(wishes),
      normalize,
      prompt: prompt_name ?? undefined,
      dimensions: dimensions ?? undefined,
    }),
  respond(c, answer, { inputs }) {
    const { result } = answer;
    describeWork(c, answer, embedInputsIn(inputs).map(String));
    const item = (index: number) => formatVector(result[index] as Float32Array<ArrayBuffer>, "float");
    return listResponse(c, { count: result.length, item });
  },
};
