import { type FilledMask, fillMaskCall } from "../../runtime/tasks/fill-mask-call.ts";
import { textsIn } from "../contract/fields.ts";
import { FillMaskRequest, type FillMaskResponse } from "../contract/fill-mask.ts";
import { answerFields } from "./answer-fields.ts";
import type { TaskRoute } from "./task-route.ts";

/** `POST /v1/fill-mask` */
export const fillMaskRoute: TaskRoute<typeof FillMaskRequest, FilledMask[][][]> = {
  schema: FillMaskRequest,
  call: ({ inputs, top_k, targets, truncate }) => fillMaskCall(textsIn(inputs), { topK: top_k, targets, truncate }),
  respond: (c, answer) =>
    c.json<FillMaskResponse>({
      ...answerFields(answer),
      results: answer.result.map((masks) =>
        masks.map((found) => found.map(({ tokenId, ...rest }) => ({ ...rest, token_id: tokenId }))),
      ),
    }),
};
