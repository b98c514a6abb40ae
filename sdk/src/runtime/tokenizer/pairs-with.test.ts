import { expect, it } from "vitest";
import { pairsWith } from "./pairs-with.ts";
import type { TextReader } from "./text-reader.ts";

/** A reader for which each character is a token. Notes how many characters it reads. */
function characterReader(): { reader: TextReader; read: () => number } {
  let characters = 0;
  const idsOf = (text: string, room: number) => {
    const read = text.slice(0, Math.min(text.length, room + 1));
    characters += read.length;
    return Array.from(read, (_, at) => at);
  };
  const placedOf = () => expect.unreachable();
  const countOf = (text: string) => idsOf(text, text.length).length;
  return { reader: { idsOf, placedOf, countOf }, read: () => characters };
}

it.each(["left", "right"] as const)("reads a long text once for many others, cut at their %s", (side) => {
  const { reader, read } = characterReader();
  const [first, second] = ["a".repeat(100_000), "b".repeat(200)];
  const encode = pairsWith(first, { pair: { prefix: [], separator: [], suffix: [] }, reader, maxTokens: 101, side });
  const others = 100;
  for (let i = 0; i < others; i++) expect(encode(second).ids).toHaveLength(101);
  // Each of the others is read twice at most: for its tokens, and to count them.
  expect(read()).toBeLessThanOrEqual(first.length + others * 2 * second.length);
});
