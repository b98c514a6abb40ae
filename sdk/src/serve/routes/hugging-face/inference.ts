import * as v from "valibot";
import { HuggingFaceRequest } from "../../contract/hugging-face.ts";
import type { TaskRoute } from "../task-route.ts";
import { huggingFaceCall } from "./call.ts";

/** `POST /` of Hugging Face's inference endpoints. */
export const huggingFaceRoute: TaskRoute<typeof HuggingFaceRequest, unknown> = {
  schema: HuggingFaceRequest,
  about: {
    summary: "The task of the model, for Hugging Face’s clients",
    example: { inputs: "to be" },
    response: v.unknown(),
  },
  call: huggingFaceCall,
  respond: (c, { result }) => c.json(result as object),
};
