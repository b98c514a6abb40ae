import { describe, expect, it } from "vitest";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { tinyModernBert } from "#test/fixtures/tiny-modernbert.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { type TokenBatch, tokenBatches } from "../evaluate/token-batches.ts";
import type { Graph } from "../graph/graph.ts";
import { tensor } from "../graph/tensor.ts";
import { observeStatistics } from "../quantize/calibration/observe-statistics.ts";
import { observeValues } from "../quantize/calibration/observe-values.ts";
import { overflowObserver } from "../quantize/fp16/overflow-observer.ts";
import { observeRanges } from "../quantize/static/observe-ranges.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { type Observations, observe } from "./observe.ts";
import { startRun } from "./stage.ts";

const sequences = [Int32Array.of(1, 7, 8, 2), Int32Array.of(1, 9, 2), Int32Array.of(1, 3, 4, 5, 6, 2)];
const bert = tinyBert();

async function observedIn<Kind extends keyof Observations>(
  graph: Graph,
  batches: readonly TokenBatch[],
  kind: Kind,
): Promise<Observations[Kind]> {
  const found = await startRun({}, await temporaryFolder()).run(observe, { graph, batches, kinds: [kind] });
  return found[kind] as Observations[Kind];
}

describe("observe returns the same from a subprocess as in this process:", () => {
  it.each([
    ["a BERT", bert],
    ["a ModernBERT, whose weights share inputs", tinyModernBert()],
  ])("statistics of %s, in a single file", async (_, { config, weights }) => {
    const graph = await fusedGraph(config, weights);
    const batches = tokenBatches(graph, sequences);
    const folder = await temporaryFolder();
    const { statistics: found } = await startRun({}, folder).run(observe, { graph, batches, kinds: ["statistics"] });
    const wanted = await observeStatistics(graph, batches);
    expect(wanted.size).toBeGreaterThan(5);
    expect(found?.weights).toEqual([...wanted.keys()]);
    for (const [weight, moments] of wanted) expect(found?.get(weight)).toEqual(moments);
  });

  it("ranges", async () => {
    const graph = encoderGraph(bert.config, bert.weights);
    const batches = tokenBatches(graph, sequences);
    const found = await observedIn(graph, batches, "ranges");
    expect(found.size).toBeGreaterThan(5);
    expect(found).toEqual(await observeRanges(graph, batches, { threads: 1 }));
  });

  it("ranges of a value that has a different name in the file", async () => {
    const g = new NamedGraph("renamed", [{ name: "input_ids", dtype: "int64", shape: ["batch", "sequence"] }]);
    const table = tensor(
      "float32",
      [10, 4],
      Float32Array.from({ length: 40 }, (_, i) => Math.sin(i)),
    );
    g.op("states", "Gather", [g.constant("table", table), "input_ids"]);
    const weight = tensor(
      "float32",
      [4, 16],
      Float32Array.from({ length: 64 }, (_, i) => Math.cos(i)),
    );
    const graph = g.outputs(g.op("y", "MatMul", ["states", g.constant("weight", weight)]));
    const [states] = graph.sorted().map(({ output }) => output);
    if (!states) throw new Error("no states");
    graph.outputs.push({ name: "last_hidden_state", value: states, declaration: undefined });
    inferShapes(graph);
    const found = await observedIn(graph, tokenBatches(graph, sequences), "ranges");
    expect([...found.keys()]).toEqual([states]);
  });

  it.each<[string, (keyof Observations)[]]>([
    ["", ["overflowing"]],
    [", in the same pass as statistics", ["statistics", "overflowing"]],
  ])("nodes that overflow fp16%s", async (_, kinds) => {
    const { config } = bert;
    const gamma = tensor("float32", [config.hiddenSize], new Float32Array(config.hiddenSize).fill(2 ** 20));
    const graph = await fusedGraph(config, { ...bert.weights, norm: { gamma, beta: bert.weights.norm?.beta } });
    const batches = tokenBatches(graph, sequences);
    const here = overflowObserver(graph);
    await observeValues(graph, batches, [here]);
    expect(here.overflowing().size).toBeGreaterThan(0);
    const found = await startRun({}, await temporaryFolder()).run(observe, { graph, batches, kinds });
    expect(found.overflowing).toEqual(here.overflowing());
  });

  it("the error of a model that does not run on some texts", async () => {
    const graph = await fusedGraph(bert.config, bert.weights);
    const long = tokenBatches(graph, [new Int32Array(bert.config.maxPositions + 1)]);
    const here = await observeStatistics(graph, long).catch((error: unknown) => error);
    const there = await observedIn(graph, long, "statistics").catch((error: unknown) => error);
    const { code, message, hint, cause } = here as { code: string; message: string; hint: string; cause: Error };
    expect(code).toBe("calibration_invalid");
    expect(there).toMatchObject({ code, message, hint, cause: { message: cause.message } });
  });
});
