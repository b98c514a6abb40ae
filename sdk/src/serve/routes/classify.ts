import type { LabelScore } from "../../runtime/tasks/classify.ts";
import { classifyCall } from "../../runtime/tasks/classify-call.ts";
import type { TextInput } from "../../runtime/text-input.ts";
import { ClassifyRequest, ClassifyResponse } from "../contract/classify.ts";
import { answerFields } from "./answer-fields.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/classify` */
export const classifyRoute: TaskRoute<typeof ClassifyRequest, LabelScore[][]> = {
  schema: ClassifyRequest,
  about: {
    summary: "Labels of texts, or of pairs of texts",
    example: { inputs: "to be" },
    response: ClassifyResponse,
  },
  call({ inputs, truncate, top_k, function_to_apply }) {
    const all = [inputs]
      .flat()
      .map((input): TextInput => (typeof input === "string" ? input : [input.text, input.text_pair]));
    return classifyCall(all, { truncate, topK: top_k, activation: function_to_apply });
  },
  respond: (c, answer) => c.json<ClassifyResponse>({ ...answerFields(answer), results: answer.result }),
};
