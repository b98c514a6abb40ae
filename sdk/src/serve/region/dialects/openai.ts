import * as v from "valibot";
import { fault, foreignDialect, type RegionDialect, SERVE_THE_SAME, Vector, vectorOfBase64 } from "./dialect.ts";

const Item = v.object({
  index: v.pipe(v.number(), v.integer(), v.minValue(0)),
  embedding: v.union([v.pipe(v.string(), v.transform(vectorOfBase64)), Vector]),
});

/** Any server with OpenAI's route. It may ignore `base64` and send numbers: https://platform.openai.com/docs/api-reference/embeddings */
export const openAiDialect = (model: string): RegionDialect =>
  foreignDialect({
    foreign: "openai",
    path: "embeddings",
    probePath: "models",
    body: ({ inputs }) => ({ input: inputs, model, encoding_format: "base64" }),
    answer: v.pipe(
      v.object({ data: v.array(Item) }),
      v.transform(({ data }) => {
        const beyond = data.find(({ index }) => index >= data.length);
        if (beyond) throw fault(`returned index ${beyond.index} in a list of ${data.length} vectors`, SERVE_THE_SAME);
        const byIndex = new Map(data.map(({ index, embedding }) => [index, embedding]));
        return data.map((_, index) => byIndex.get(index));
      }),
    ),
    refusal: v.pipe(
      v.object({ error: v.object({ message: v.string(), type: v.string() }) }),
      v.transform(({ error }) => error.message),
    ),
  });
