import { expect, it } from "vitest";
import { scoreRetrieval } from "./score-retrieval.ts";

/** Returns unit vectors: the number in a text is the angle in degrees. */
const embed = async (texts: readonly string[]) =>
  texts.map((text) => {
    const angle = (Number.parseFloat(text) * Math.PI) / 180;
    return Float32Array.of(Math.cos(angle), Math.sin(angle));
  });
const documents = new Map([
  ["near", "10 degrees"],
  ["far", "80 degrees"],
  ["middle", "45 degrees"],
]);
const score = (judged: Record<string, Record<string, number>>, queries = { low: "5", high: "85" }) =>
  scoreRetrieval(
    {
      documents,
      queries: new Map(Object.entries(queries)),
      relevance: new Map(
        Object.entries(judged).map(([query, ofDocuments]) => [query, new Map(Object.entries(ofDocuments))]),
      ),
    },
    embed,
  );

it("returns the mean nDCG of queries with judgements, with documents ranked by cosine", async () => {
  expect(await score({ low: { near: 1 } })).toBe(1);
  // Rank 2 is discounted by log2(3), rank 3 by log2(4).
  expect(await score({ low: { middle: 1 } })).toBeCloseTo(1 / Math.log2(3), 12);
  expect(await score({ low: { near: 1 }, high: { near: 1 } })).toBeCloseTo((1 + 0.5) / 2, 12);
});

it("never ranks the document that has the query's id", async () => {
  expect(await score({ near: { middle: 1 } }, { near: "10", high: "85" } as never)).toBe(1);
});

it("ranks the greater id first when cosines are equal", async () => {
  const twins = new Map([
    ["a", "20"],
    ["c", "20"],
    ["b", "20"],
  ]);
  const relevance = new Map([["q", new Map([["a", 1]])]]);
  expect(await scoreRetrieval({ documents: twins, queries: new Map([["q", "20"]]), relevance }, embed)).toBe(0.5);
});

it("counts only the first ten documents", async () => {
  const many = new Map(Array.from({ length: 12 }, (_, i) => [`d${i}`, `${5 * i}`]));
  const found = (id: string) => {
    const relevance = new Map([["q", new Map([[id, 1]])]]);
    return scoreRetrieval({ documents: many, queries: new Map([["q", "0"]]), relevance }, embed);
  };
  expect(await found("d9")).toBeCloseTo(1 / Math.log2(11), 12);
  expect(await found("d10")).toBe(0);
});
