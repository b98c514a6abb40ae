import * as v from "valibot";
import { parseJson } from "../../../artifact/parse-json.ts";
import {
  foreignVectors,
  maxBytesOfNumbers,
  type RegionDialect,
  requestRefused,
  SERVE_THE_SAME,
  vectorOfNumbers,
} from "./dialect.ts";

const Answer = v.object({ data: v.array(v.unknown()) });
const Fault = v.object({ internalCode: v.number(), description: v.string() });

/**
 * Models of Workers AI that embed texts: https://developers.cloudflare.com/workers-ai/models/bge-small-en-v1.5. They
 * report no times.
 *
 * @param pooling undefined leaves it to the model
 */
export const workersAiDialect = (pooling: "mean" | "cls" | undefined): RegionDialect => ({
  provider: "workers-ai",
  isForeign: true,
  path: "",
  probePath: "",
  body: ({ inputs }) => ({ text: inputs, ...(pooling && { pooling }) }),
  maxAnswerBytes: maxBytesOfNumbers,
  readAnswer(body, expected) {
    const { data } = parseJson(Answer, body, { code: "region_failed", what: "region's answer", hint: SERVE_THE_SAME });
    return foreignVectors(data.map(vectorOfNumbers), expected);
  },
  readReport: () => undefined,
  faultOf(json) {
    const parsed = v.safeParse(Fault, json);
    return parsed.success ? requestRefused(parsed.output.description) : undefined;
  },
});
