import * as v from "valibot";
import { foreignDialect, type RegionDialect, Vector } from "./dialect.ts";

/** Embedding models of Workers AI, such as https://developers.cloudflare.com/workers-ai/models/bge-small-en-v1.5 */
export const workersAiDialect = (pooling: "mean" | "cls" | undefined): RegionDialect =>
  foreignDialect({
    foreign: "workers-ai",
    path: "",
    probePath: "",
    body: ({ inputs }) => ({ text: inputs, ...(pooling && { pooling }) }),
    answer: v.pipe(
      v.object({ data: v.array(Vector) }),
      v.transform(({ data }) => data),
    ),
    refusal: v.pipe(
      v.object({ internalCode: v.number(), description: v.string() }),
      v.transform(({ description }) => description),
    ),
  });
