import { expect, it } from "vitest";
import { encodeBytes } from "#sdk/serve/contract/vector-text.ts";
import { judgeAnswer } from "./judge-answer.ts";

const fields = { model: "tiny", version: "0", tier: "edge", usage: { tokens: 1 } };
const answered = (content: object | string, headers: Record<string, string> = {}, status = 200) =>
  new Response(typeof content === "string" ? content : JSON.stringify(content), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
const scores = (...values: number[]) => ({ ...fields, scores: values });
const bits = (value: number) => encodeBytes(Float32Array.of(1, value));

it("accepts what a route describes", async () => {
  expect(await judgeAnswer(answered(scores(1)), "/v1/similarity", "{}")).toBe("accepted");
  expect(await judgeAnswer(answered({ ...fields, embeddings: [bits(2)] }), "/v1/embed", "{}")).toBe("accepted");
  const bytes = { ...fields, embeddings: ["//8="] };
  expect(await judgeAnswer(answered(bytes), "/v1/embed", '{"output_type":"int8"}')).toBe("accepted");
  const hidden = answered({ error: { code: "input_empty" } }, { "x-amzn-sagemaker-custom-attributes": "status=400" });
  expect(await judgeAnswer(hidden, "/invocations", "{}")).toBe("input_empty");
});

it.each<[what: string, route: string, answer: Response]>([
  ["a score that is NaN", "/v1/similarity", answered(scores(Number.NaN))],
  ["a score that is infinite", "/v1/similarity", answered(JSON.stringify(scores(7)).replace("7", "1e999"))],
  ["NaN in base64", "/v1/embed", answered({ ...fields, embeddings: [bits(Number.NaN)] })],
  ["NaN in a list of Hugging Face", "/", answered([{ label: "a", score: Number.NaN }])],
  ["a missing field", "/v1/similarity", answered(fields)],
  ["no JSON", "/v1/similarity", answered("{")],
  ["metrics with NaN", "", answered("requests NaN", { "content-type": "text/plain" })],
  ["a server error", "/v1/embed", answered({ error: { code: "engine_failed" } }, {}, 500)],
])("finds %s", async (_, route, answer) => {
  await expect(judgeAnswer(answer, route, "{}")).rejects.toThrow();
});
