import * as v from "valibot";
import { parseJson } from "../../../artifact/parse-json.ts";
import {
  fault,
  foreignVectors,
  maxBytesOfNumbers,
  type RegionDialect,
  requestRefused,
  SERVE_THE_SAME,
  vectorOfBase64,
  vectorOfNumbers,
} from "./dialect.ts";

const Answer = v.object({
  data: v.array(v.object({ index: v.pipe(v.number(), v.integer(), v.minValue(0)), embedding: v.unknown() })),
});
const Fault = v.object({ error: v.object({ message: v.string(), type: v.string() }) });

/**
 * Any server with OpenAI's route: https://platform.openai.com/docs/api-reference/embeddings. It is asked for base64, and may
 * answer numbers.
 *
 * @param model the model's name on the server
 */
export const openAiDialect = (model: string): RegionDialect => ({
  provider: "openai",
  isForeign: true,
  path: "embeddings",
  probePath: "models",
  body: ({ inputs }) => ({ input: inputs, model, encoding_format: "base64" }),
  maxAnswerBytes: maxBytesOfNumbers,
  readAnswer(body, expected) {
    const { data } = parseJson(Answer, body, { code: "region_failed", what: "region's answer", hint: SERVE_THE_SAME });
    const vectors: (Float32Array<ArrayBuffer> | undefined)[] = data.map(() => undefined);
    for (const { index, embedding } of data) {
      if (index >= data.length) throw fault(`returned a vector for text ${index} of ${data.length}`, SERVE_THE_SAME);
      vectors[index] = typeof embedding === "string" ? vectorOfBase64(embedding) : vectorOfNumbers(embedding);
    }
    return foreignVectors(vectors, expected);
  },
  readReport: () => undefined,
  faultOf(json) {
    const parsed = v.safeParse(Fault, json);
    return parsed.success ? requestRefused(parsed.output.error.message) : undefined;
  },
});
