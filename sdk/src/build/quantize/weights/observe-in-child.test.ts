import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { fusedGraph } from "../../../../../test/suites/fused-graph.ts";
import { temporaryFolder } from "../../../../../test/suites/temporary-folder.ts";
import { tinyBert } from "../../../../../test/suites/tiny-bert.ts";
import { tinyModernBert } from "../../../../../test/suites/tiny-modernbert.ts";
import { tokenBatches } from "../token-batches.ts";
import { observeProducts } from "./observe.ts";
import { observeInChild } from "./observe-in-child.ts";

const sequences = [Int32Array.of(1, 7, 8, 2), Int32Array.of(1, 9, 2), Int32Array.of(1, 3, 4, 5, 6, 2)];

describe("observeInChild", () => {
  it.each([
    ["a BERT", tinyBert],
    ["a ModernBERT, of which weights share what they read", tinyModernBert],
  ])("finds the same bits in %s as this process, and leaves nothing but them", async (_, tiny) => {
    const { config, weights } = tiny();
    const graph = await fusedGraph(config, weights);
    const folder = await temporaryFolder();
    const found = await observeInChild(graph, sequences, folder);
    const wanted = await observeProducts(graph, tokenBatches(graph, sequences));
    expect(wanted.size).toBeGreaterThan(5);
    for (const [weight, moments] of wanted) expect(found.get(weight)).toEqual(moments);
    expect(await readdir(folder)).toEqual(["moments"]);
  });

  it("refuses texts on which the model does not run, for the same reason", async () => {
    const { config, weights } = tinyBert();
    const graph = await fusedGraph(config, weights);
    const long = [new Int32Array(config.max_position_embeddings + 1)];
    const here = await observeProducts(graph, tokenBatches(graph, long)).catch((error: unknown) => error);
    const there = await observeInChild(graph, long, await temporaryFolder()).catch((error: unknown) => error);
    const { code, message, hint, cause } = here as { code: string; message: string; hint: string; cause: Error };
    expect(code).toBe("calibration_invalid");
    expect(there).toMatchObject({ code, message, hint, cause: { message: cause.message } });
  });
});
