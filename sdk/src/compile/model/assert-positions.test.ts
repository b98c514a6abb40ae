import { expect, it } from "vitest";
import { caseOf } from "#test/fixtures/classifier-case.ts";
import { parsedConfig } from "#test/fixtures/parsed-config.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { assertPositions, assumedLength } from "./assert-positions.ts";

const HUGE = 1e30;
const bert = parsedConfig(caseOf("bert").config);
const deberta = parsedConfig({ ...caseOf("deberta-v2").config, max_position_embeddings: 64 });

it("refuses texts that are longer than the positions, which only families without a position table can read", () => {
  expect(refusal(() => assertPositions("folder", deberta, 65))).toBe("checkpoint_unsupported");
  for (const stated of [64, HUGE, undefined]) expect(() => assertPositions("folder", deberta, stated)).not.toThrow();
  expect(() => assertPositions("folder", bert, 1000)).not.toThrow();
});

it("says that texts are cut which transformers reads whole, because no file gives a length", () => {
  for (const stated of [undefined, HUGE]) {
    expect(assumedLength(deberta, stated)).toMatch(/the 64 tokens of max_position_embeddings/);
    expect(assumedLength(bert, stated)).toBeUndefined();
  }
  expect(assumedLength(deberta, 64)).toBeUndefined();
});
