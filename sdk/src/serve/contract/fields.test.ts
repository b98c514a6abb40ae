import * as v from "valibot";
import { expect, it } from "vitest";
import { openAi } from "../dialects/openai.ts";
import { embedRoute } from "../tasks/embed.ts";
import { rerankRoute } from "../tasks/rerank.ts";
import { sparseRoute } from "../tasks/sparse.ts";

const messageOf = (schema: v.GenericSchema, body: object) => v.safeParse(schema, body).issues?.[0].message;

it.each([
  [embedRoute.schema, { input: "a" }, "there is `input`. Did you mean `inputs`?"],
  [sparseRoute.schema, { texts: ["a"] }, "there is `texts`. Did you mean `inputs`?"],
  [openAi.routes[0]?.schema, { inputs: ["a"], model: "m" }, "there is `inputs`. Did you mean `input`?"],
  [rerankRoute.schema, { query: "a", texts: ["b"] }, "there is `texts`. Did you mean `documents`?"],
])("the message about a missing field of %# asks for the field that stands for it", (schema, body, question) => {
  expect(messageOf(schema as v.GenericSchema, body)).toContain(question);
});

it("the message about a missing field does not take another field of the route for it", () => {
  expect(messageOf(rerankRoute.schema, { query: "a" })).toBe("the field is missing");
  expect(messageOf(rerankRoute.schema, { documents: ["a"] })).toBe("the field is missing");
});
