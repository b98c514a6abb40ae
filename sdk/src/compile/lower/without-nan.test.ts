import { describe, expect, it } from "vitest";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { randomSequences, TINY_EDGE, tinyEdgeFile, tinyEncoders } from "#test/fixtures/tiny-edge-file.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import type { Graph } from "../graph/graph.ts";
import { float32Scalar } from "../graph/tensor.ts";
import { precisions } from "../quantize/precisions.ts";
import { encodeProgram } from "./encode-program.ts";

const { config, weights } = tinyEncoders.bert();
const sequences = randomSequences(TINY_EDGE);

/** Adds Where(IsNaN(result), other, result) after every attention, as exporters do for masks with −∞. */
async function guarded(other: number): Promise<Graph> {
  const graph = await precisions["int8-edge"](await fusedGraph(config, weights))();
  for (const node of [...graph.nodes].filter(({ opType }) => opType === "DynamicQuantizeAttention")) {
    const { output } = node;
    const readers = [...output.users];
    const tested = graph.add("IsNaN", [output]).output;
    const where = graph.add("Where", [tested, graph.constant("other", float32Scalar(other)), output]).output;
    for (const reader of readers) {
      graph.setInputs(
        reader,
        reader.inputs.map((input) => (input === output ? where : input)),
      );
    }
  }
  return graph;
}

describe("attention followed by Where(IsNaN(x), …, x)", () => {
  it("computes the same as without Where if NaN becomes 0", async () => {
    const engine = await engineOnThisMachine("wasm");
    const file = await encodeProgram(await guarded(0), TINY_EDGE);
    const [session, plain] = [
      await engine.load(oneModel(file)),
      await engine.load(oneModel(await tinyEdgeFile("bert"))),
    ];
    expect(await session.run(sequences)).toEqual(await plain.run(sequences));
  });

  it("is refused if NaN becomes a number other than 0", async () => {
    await expect(encodeProgram(await guarded(1), TINY_EDGE)).rejects.toMatchObject({ code: "engine_unsupported" });
  });
});
