import type { LabelScore } from "../../../runtime/tasks/classify.ts";
import { classifyCall } from "../../../runtime/tasks/classify-call.ts";
import { type TextInput, textsOf } from "../../../runtime/text-input.ts";
import { TeiPredictRequest, teiResponses, teiTruncation } from "../../contract/tei.ts";
import type { TaskRoute } from "../task-route.ts";
import { describeWork } from "./describe-work.ts";

type Inputs = string | readonly string[] | readonly (readonly string[])[];

/** `POST /predict` of text-embeddings-inference. A list of two strings is one pair. */
export const teiPredictRoute: TaskRoute<typeof TeiPredictRequest, LabelScore[][]> = {
  schema: TeiPredictRequest,
  about: {
    summary: "Labels of texts, or of pairs of texts, for clients of text-embeddings-inference",
    example: { inputs: "to be" },
    response: teiResponses.predict,
  },
  call: ({ inputs, raw_scores, ...wishes }) =>
    classifyCall(inputsOf(inputs), { truncate: teiTruncation(wishes), ...(raw_scores && { activation: "none" }) }),
  respond(c, answer, { inputs }) {
    describeWork(c, answer, inputsOf(inputs).flatMap(textsOf));
    return c.json(isBatch(inputs) ? answer.result : answer.result[0]);
  },
};

const isBatch = (inputs: Inputs): inputs is readonly (readonly string[])[] =>
  typeof inputs === "object" && typeof inputs[0] === "object";

function inputsOf(inputs: Inputs): TextInput[] {
  if (typeof inputs === "string") return [inputs];
  return (isBatch(inputs) ? inputs : [inputs as readonly string[]]).map(
    ([first = "", second]): TextInput => (second === undefined ? first : [first, second]),
  );
}
