import { expect, it } from "vitest";
import { eachTextOnce } from "./each-text-once.ts";

it("computes every distinct text once, and returns results by text", async () => {
  const asked: string[] = [];
  const resultOf = await eachTextOnce(["a", "bb", "a", "ccc", "bb"], async (texts) => {
    asked.push(...texts);
    return texts.map((text) => Float32Array.of(text.length));
  });
  expect(asked).toEqual(["a", "bb", "ccc"]);
  expect(["ccc", "a", "bb"].map((text) => resultOf(text)[0])).toEqual([3, 1, 2]);
});

it.each([Number.NaN, Number.POSITIVE_INFINITY])("refuses %d, which a metric could hide", async (number) => {
  const compute = async (texts: readonly string[]) => texts.map((_, i) => Float32Array.of(1, i === 1 ? number : 0));
  await expect(eachTextOnce(["a", "b"], compute)).rejects.toMatchObject({
    code: "vector_invalid",
    message: 'The model computes NaN or infinite numbers for the text "b".',
  });
});
