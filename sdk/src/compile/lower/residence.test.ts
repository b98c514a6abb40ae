import { describe, expect, it } from "vitest";
import { levelRowBytes } from "../../runtime/engine/wasm/ops/lookup.ts";
import { outlineOfPages } from "./cut-into-pages.ts";
import { type EncoderShape, outlineEncoder } from "./outline-encoder.ts";
import { expanded, type Residence, residenceOf } from "./residence.ts";
import { outlineFile, type ProgramOutline } from "./write-model-file.ts";

/** multilingual-e5-base. */
const SHAPE: EncoderShape = {
  ...{ layers: 12, hidden: 768, heads: 12, feedForward: 3072, vocabulary: 250_002, maxTokens: 512 },
  ...{ positions: "table", gated: false, pairs: false },
};
const outline = outlineEncoder(SHAPE, { tableBits: 4, weightBits: 4 });

/** Returns the bytes that the engine keeps of a model whose table is in pages: its file, other rows, and a scale of each row. */
function keptBytes(model: ProgramOutline, residence: Residence, frequent: number): number {
  if (residence.kind !== "pages") throw new Error(`The table is ${residence.kind}.`);
  const { resident, cached, expands } = residence;
  const file = outlineFile(outlineOfPages(expanded(model, expands), { resident, cached, frequent })).length;
  return file + cached * levelRowBytes(SHAPE.hidden) + 4 * (resident + cached);
}

describe("residenceOf", () => {
  it.each([
    [92_500_000, 20_000],
    [80_000_000, 60_000],
    [70_000_000, 1_000],
  ])(
    "keeps as many rows as fit into %i bytes, with the list of %i frequent tokens and the hashes",
    (most, frequent) => {
      const bytes = keptBytes(
        outline,
        residenceOf(outline, most, () => frequent),
        frequent,
      );
      expect(bytes).toBeLessThanOrEqual(most);
      // The list of hashes has fewer pages the more rows are in the file, which is not counted.
      expect(bytes).toBeGreaterThan(0.998 * most);
    },
  );

  it("keeps no more than fits if hardly any rows do", () => {
    const short = outlineEncoder({ ...SHAPE, maxTokens: 128 }, { tableBits: 4, weightBits: 4 });
    let [none, most] = [50_000_000, 80_000_000];
    while (most - none > 1) {
      const middle = (none + most) >> 1;
      if (residenceOf(short, middle, () => 1_000).kind === "none") none = middle;
      else most = middle;
    }
    const bytes = keptBytes(
      short,
      residenceOf(short, most, () => 1_000),
      1_000,
    );
    expect(bytes).toBeLessThanOrEqual(most);
  });

  it("says that a model does not fit if too few rows do", () => {
    expect(residenceOf(outline, 50_000_000, () => 1_000)).toMatchObject({ kind: "none" });
  });
});
