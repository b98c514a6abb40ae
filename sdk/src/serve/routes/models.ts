import type { Context } from "hono";
import type { TaskService } from "../service.ts";

/** `GET /v1/models` of OpenAI. When a model was made is not known: `created` is 0. */
export const listModels = (c: Context, { models }: TaskService): Response =>
  c.json({
    object: "list",
    data: models.map((id) => ({ id, object: "model", created: 0, owned_by: "bert-edge" })),
  });
