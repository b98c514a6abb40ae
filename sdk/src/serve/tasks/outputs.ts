import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenSequence } from "../../runtime/engine/engine.ts";
import { outputsCall } from "../../runtime/tasks/outputs.ts";
import { OutputsRequest, OutputsResponse, type SequenceJson } from "../contract/outputs.ts";
import { decodeIds, encodeBytes } from "../contract/vector-text.ts";
import { listResponse } from "../routes/in-parts.ts";
import { answerFields, type Route, taskAt } from "../routes/task-route.ts";

/** The model's own outputs, for the edge that asks this deployment as its region. */
export const outputsRoute: Route = taskAt("/v1/outputs", {
  schema: OutputsRequest,
  summary: "Outputs of the model itself, for the edge that asks its region",
  example: { model: "bert-edge-mini", inputs: ["to be"] },
  response: OutputsResponse,
  call: ({ inputs, sequences, truncate = false }) =>
    outputsCall(sequences ? sequences.map(sequenceOf) : { inputs, truncate }),
  respond: (answer, _, c) =>
    listResponse(c, answer.result, (output) => `"${encodeBytes(output)}"`, { ...answerFields(answer), outputs: [] }),
  isInternal: true,
});

/** @throws BertEdgeError `request_invalid` */
function sequenceOf(
  { ids: text, second_from: secondFrom, attended, pooled_from: pooledFrom }: SequenceJson,
  index: number,
): TokenSequence {
  let ids: Int32Array<ArrayBuffer>;
  try {
    ids = decodeIds(text);
  } catch {
    throw new BertEdgeError("request_invalid", `The ids of sequence ${index} are not base64 of int32 numbers.`, {
      hint: "Encode the little-endian bytes of the token ids as base64.",
      index,
    });
  }
  return { ids, secondFrom, attended, pooledFrom };
}
