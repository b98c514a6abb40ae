import type { LabelScore } from "../../runtime/tasks/classify.ts";
import { zeroShotCall } from "../../runtime/tasks/zero-shot-call.ts";
import { textsIn } from "../contract/fields.ts";
import { ZeroShotRequest, ZeroShotResponse } from "../contract/zero-shot.ts";
import { answerFields } from "./answer-fields.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/zero-shot` */
export const zeroShotRoute: TaskRoute<typeof ZeroShotRequest, LabelScore[][]> = {
  schema: ZeroShotRequest,
  about: {
    summary: "Scores of labels of your own",
    example: { inputs: "We flew to Paris.", candidate_labels: ["travel", "cooking"] },
    response: ZeroShotResponse,
  },
  call: ({ inputs, candidate_labels, multi_label, hypothesis_template, truncate }) =>
    zeroShotCall(textsIn(inputs), {
      candidateLabels: candidate_labels,
      multiLabel: multi_label,
      hypothesisTemplate: hypothesis_template,
      truncate,
    }),
  respond: (c, answer) => c.json<ZeroShotResponse>({ ...answerFields(answer), results: answer.result }),
};
