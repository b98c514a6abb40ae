import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { excusedParts, unfusedParts } from "#sdk/compile/fusions/unfused-parts.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import { type Claim, type ExportCase, readExportCase } from "../fixtures/export-case.ts";
import { sampled } from "../fixtures/sampled.ts";
import { describeShared } from "../fixtures/shared.ts";
import { fusedCounts, optimized, rewritings } from "../oracles/run-model.ts";
import { casesIn, EXPORTS, expectStoredOutputs, meets } from "./exported-model.ts";

/** An entry of claims.json. */
interface Expected {
  readonly fused: Claim;
  /** Expected text in the reason why onnxruntime has no operator for a part. Absent if everything is fused. */
  readonly excused?: string;
}

describe("an export in this repository", () => {
  const claims: Readonly<Record<string, Expected>> = JSON.parse(readFileSync(join(EXPORTS, "claims.json"), "utf8"));

  it("has a claim", () => expect(casesIn(EXPORTS)).toEqual(Object.keys(claims)));

  it.each(Object.entries(claims))("%s is fused as claimed, and computes the same", async (name, expected) => {
    const [stored, path] = [readExportCase(join(EXPORTS, name)), join(EXPORTS, name, "model.onnx")];
    const { graph, trace, bytes } = await optimized(await readOnnx(path));

    expect(fusedCounts(graph.nodes)).toEqual(expected.fused);
    expect(unfusedParts(graph, trace)).toEqual([]);
    const excuses = expected.excused === undefined ? [] : [expect.stringContaining(expected.excused)];
    expect(excusedParts(graph).map(({ why }) => why)).toEqual(excuses);

    await expectStoredOutputs(stored, path, "disabled");
    for (const rewriting of rewritings) await expectStoredOutputs(stored, bytes, rewriting);
  });
});

/** Cases that are deliberately fused less than possible. */
const exceptions: Readonly<Record<string, { readonly fused: Claim; readonly why: string }>> = Object.fromEntries(
  ["q-bert-dynamic-l17", "q-bert-dynamic-pc-sdpa-dyn", "q-bert-dynamic-u8-l14"].map((name) => [
    name,
    {
      fused: { EmbedLayerNormalization: null, Attention: null, SkipLayerNormalization: 4, BiasGelu: 2 },
      why:
        "the embedding tables are int8 and scaled after the lookup; EmbedLayerNormalization would need them in float32, " +
        "four times the size",
    },
  ]),
);

const claimsOf = ({ expected_fused, expected_alt = [] }: ExportCase): readonly Claim[] =>
  expected_fused ? [expected_fused, ...expected_alt] : [];

describeShared("corpus", "an export of the large corpus", (folder) => {
  const cases = casesIn(folder);

  it("is one of 150 cases", () => {
    expect(cases).toHaveLength(150);
    expect(cases).toEqual(expect.arrayContaining(Object.keys(exceptions)));
  });

  it.each(sampled(cases, 4))("%s is fused as far as possible, and computes the same", async (name) => {
    const stored = readExportCase(join(folder, name));
    const { graph, bytes } = await optimized(await readOnnx(join(folder, name, "model.onnx")));

    const counts = fusedCounts(graph.nodes);
    const exception = exceptions[name];
    const claims = claimsOf(stored);
    const isMet = claims.length === 0 || claims.some((claim) => meets(counts, claim));
    if (exception) {
      expect(isMet, `${name} does not need to be an exception: ${exception.why}`).toBe(false);
      expect(meets(counts, exception.fused), JSON.stringify(counts)).toBe(true);
    } else expect(isMet, `${JSON.stringify(counts)} matches none of ${JSON.stringify(claims)}`).toBe(true);

    for (const rewriting of rewritings) await expectStoredOutputs(stored, bytes, rewriting);
  });
});
