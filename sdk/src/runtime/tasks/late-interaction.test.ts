import { describe, expect, it } from "vitest";
import { encodeRole, type Protocol, type SearchRole, withoutSkipped } from "./late-interaction.ts";

const protocol: Protocol = {
  query: { length: 6, marker: 90, expansion: { token: 99, isAttended: false } },
  document: { length: 5, marker: 91, skipped: [7] },
};

/** A tokenizer whose tokens are the letters of a text, between 1 and 2. */
const tokenizer = {
  encode(text: string, maxTokens: number) {
    const content = [...text].map((letter) => letter.charCodeAt(0) - 96);
    return { ids: Int32Array.of(1, ...content.slice(0, maxTokens - 2), 2), tokens: content.length + 2 };
  },
};

const read = (text: string, role: SearchRole, changes: Partial<Protocol["query"]> = {}) =>
  encodeRole(tokenizer, text, { role, protocol: { ...protocol, query: { ...protocol.query, ...changes } } });

describe("encodeRole", () => {
  it("marks a query behind its first token, and fills it up with tokens that are not attended to", () => {
    const { sequence, tokens } = read("c", "query");
    expect([...sequence.ids]).toEqual([1, 90, 3, 2, 99, 99]);
    expect(sequence.attended).toBe(4);
    expect(tokens).toBe(4);
  });

  it("lets tokens attend to the expansion if the model does", () => {
    const { sequence } = read("c", "query", { expansion: { token: 99, isAttended: true } });
    expect([...sequence.ids]).toEqual([1, 90, 3, 2, 99, 99]);
    expect(sequence.attended).toBeUndefined();
  });

  it("leaves queries as they are that are long enough, or that are not expanded", () => {
    expect([...read("cdefgh", "query").sequence.ids]).toEqual([1, 90, 3, 4, 5, 2]);
    expect(read("cdefgh", "query").tokens).toBe(9);
    expect([...read("c", "query", { expansion: undefined, marker: undefined }).sequence.ids]).toEqual([1, 3, 2]);
  });

  it("leaves white space around a text out, as Python does", () => {
    for (const blank of [" \n", "\x1f", "\x85", "\u3000"]) {
      expect([...read(`${blank}c${blank}`, "document").sequence.ids]).toEqual([1, 91, 3, 2]);
    }
    expect(read("\ufeffc", "document").tokens).toBe(5);
  });

  it("lower-cases texts before the tokenizer reads them, if the model does", () => {
    const lower = encodeRole(tokenizer, "C", { role: "document", protocol: { ...protocol, lowercases: true } });
    expect([...lower.sequence.ids]).toEqual([1, 91, 3, 2]);
  });

  it("marks documents, and cuts them to their own length", () => {
    expect([...read("c", "document").sequence.ids]).toEqual([1, 91, 3, 2]);
    expect([...read("cdef", "document").sequence.ids]).toEqual([1, 91, 3, 4, 2]);
  });
});

it("withoutSkipped leaves the rows of skipped tokens out", () => {
  const rows = Float32Array.of(1, 1, 2, 2, 3, 3);
  expect([...withoutSkipped(rows, 2, Int32Array.of(5, 7, 6), [7])]).toEqual([1, 1, 3, 3]);
  expect([...withoutSkipped(rows, 2, Int32Array.of(7, 7, 7), [7])]).toEqual([]);
});
