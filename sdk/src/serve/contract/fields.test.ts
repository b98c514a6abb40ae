import * as v from "valibot";
import { expect, it } from "vitest";
import { OpenAiEmbeddingsRequest } from "../dialects/openai.ts";
import { EmbedRequest } from "../tasks/embed.ts";
import { RerankRequest } from "../tasks/rerank.ts";

const messageOf = (schema: v.GenericSchema, body: object) => v.safeParse(schema, body).issues?.[0].message;

it.each([
  [EmbedRequest, { input: "a" }, "there is `input`. Did you mean `inputs`?"],
  [EmbedRequest, { texts: ["a"] }, "there is `texts`. Did you mean `inputs`?"],
  [OpenAiEmbeddingsRequest, { inputs: ["a"], model: "m" }, "there is `inputs`. Did you mean `input`?"],
  [RerankRequest, { query: "a", texts: ["b"] }, "there is `texts`. Did you mean `documents`?"],
])("the message about a missing field of %# asks for the field that stands for it", (schema, body, question) => {
  expect(messageOf(schema as v.GenericSchema, body)).toContain(question);
});

it("the message about a missing field does not take another field of the route for it", () => {
  expect(messageOf(RerankRequest as v.GenericSchema, { query: "a" })).toBe("the field is missing");
  expect(messageOf(RerankRequest as v.GenericSchema, { documents: ["a"] })).toBe("the field is missing");
});
