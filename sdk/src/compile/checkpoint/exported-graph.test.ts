import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { Sketch } from "#test/fixtures/sketch.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { largestOutputDifference } from "#test/oracles/run-model.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Value } from "../graph/node.ts";
import { type DataType, tensor } from "../graph/tensor.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { decodeModel } from "../proto/decode-model.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import { HIDDEN_STATES } from "./export-outputs.ts";
import { exportedGraph } from "./exported-graph.ts";

const [VOCABULARY, POSITIONS, HIDDEN, LABELS] = [7, 5, 4, 3];
const config = { vocabularySize: VOCABULARY, hiddenSize: HIDDEN, maxPositions: POSITIONS } as EncoderConfig;
const NAME = "last_hidden_state";
const states = { names: HIDDEN_STATES, shape: [undefined, undefined, HIDDEN] };
const logits = { names: ["logits"], shape: [undefined, LABELS] };

interface Exported {
  readonly s: Sketch;
  readonly ids: Value;
  readonly mask: Value;
  /** Sum of token and position embeddings: [batch, sequence, hidden]. */
  readonly embedded: Value;
}

/** Writes a small ONNX export and reads it with `exportedGraph`. */
async function read(
  write: (parts: Exported) => void,
  result = states,
  ids: Parameters<Sketch["input"]>[2] = "int64",
  positions = POSITIONS,
) {
  const s = new Sketch();
  const size = ["batch", "sequence"];
  const parts = { s, ids: s.input("input_ids", size, ids), mask: s.input("attention_mask", size, "int64") };
  const embedded = s.op("Gather", [s.random([VOCABULARY, HIDDEN]), parts.ids]);
  const position = s.op("Gather", [s.random([positions, HIDDEN]), s.index(1)]);
  write({ ...parts, embedded: s.op("Add", [embedded, position]) });
  const path = join(await temporaryFolder(), "model.onnx");
  await writeFile(path, encodeOnnx(s.graph));
  return exportedGraph(path, config, [result]);
}

describe("exportedGraph", () => {
  it("keeps only the wanted output and the nodes that lead to it", async () => {
    const { graph, results, others } = await read(({ s, embedded }) => {
      s.output(s.op("ReduceMean", [embedded], { axes: [1] }), "sentence_embedding");
      s.output(s.op("Relu", [embedded]), "last_hidden_state");
    });
    expect(graph.outputs.map(({ name }) => name)).toEqual(["last_hidden_state"]);
    expect({ results, others }).toEqual({ results: ["last_hidden_state"], others: ["sentence_embedding"] });
    expect([...graph.nodes].map(({ opType }) => opType)).toEqual(["Gather", "Gather", "Add", "Relu"]);
  });

  it("does not mistake onnxruntime's QuickGelu for a quantized operator", async () => {
    const { graph } = await read(({ s, embedded }) =>
      s.output(s.op("QuickGelu", [embedded], {}, { domain: MICROSOFT }), "last_hidden_state"),
    );
    expect(graph.outputs[0]?.value.producer?.opType).toBe("QuickGelu");
  });

  it.each([0, 1])("replaces a head's Gemm with supported operators (transB %d)", async (transB) => {
    const ids = new ort.Tensor("int64", BigInt64Array.of(3n, 1n), [1, 2]);
    const feeds = [{ input_ids: ids, attention_mask: ids }];
    let original: Graph | undefined;
    const { graph } = await read(({ s, embedded }) => {
      const first = s.op("Gather", [embedded, s.index(0)], { axis: 1 });
      const weight = s.random(transB ? [LABELS, HIDDEN] : [HIDDEN, LABELS]);
      s.output(s.op("Gemm", [first, weight, s.random([LABELS])], { transB }), "logits");
      original = s.graph;
    }, logits);
    expect([...graph.nodes].map(({ opType }) => opType)).not.toContain("Gemm");
    const [found, wanted] = [await runGraph(graph, feeds), await runGraph(original as Graph, feeds)];
    expect(largestOutputDifference(found[0] ?? {}, wanted[0] ?? {})).toBeLessThan(1e-6);
  });

  it.each<[string, Parameters<typeof read>, string]>([
    [
      "outputs of other names",
      [
        ({ s, embedded }) => {
          s.output(embedded, "a");
          s.output(embedded, "b");
        },
      ],
      "none of the outputs last_hidden_state, token_embeddings, sequence_output. It has a, b.",
    ],
    [
      "one vector for each text",
      [({ s, embedded }) => s.output(s.op("ReduceMean", [embedded], { axes: [1], keepdims: 0 }), NAME)],
      "an output last_hidden_state with a shape other than […, …, 4]",
    ],
    [
      "hidden states of another width",
      [({ s, embedded }) => s.output(s.op("Concat", [embedded, embedded], { axis: -1 }), "last_hidden_state")],
      "with a shape other than",
    ],
    [
      "logits for another number of labels",
      [
        ({ s, embedded }) =>
          s.output(
            s.op("MatMul", [s.op("Gather", [embedded, s.index(0)], { axis: 1 }), s.random([HIDDEN, 5])]),
            "logits",
          ),
        logits,
      ],
      "a shape other than […, 3]",
    ],
    [
      "position ids as an input",
      [
        ({ s, embedded }) =>
          s.output(
            s.op("Add", [
              embedded,
              s.op("Gather", [s.random([9, HIDDEN]), s.input("position_ids", ["batch", "sequence"], "int64")]),
            ]),
            NAME,
          ),
      ],
      "an unsupported input position_ids",
    ],
    [
      "token ids that are not integers",
      [({ s, embedded }) => s.output(embedded, NAME), states, "float32"],
      "an input input_ids of type float32",
    ],
    [
      "quantized weights",
      [
        ({ s, embedded }) =>
          s.output(
            s.op("DequantizeLinear", [
              s.node("DynamicQuantizeLinear", [embedded], {}, { outputs: ["q", "scale", "zero"] }).output,
              1,
            ]),
            NAME,
          ),
      ],
      "is quantized",
    ],
    [
      "weights in half precision",
      [
        ({ s, embedded }) =>
          s.output(
            s.op("Add", [
              embedded,
              s.op("Cast", [s.constant(tensor("float16", [HIDDEN], new Float16Array(HIDDEN)))], { to: 1 }),
            ]),
            NAME,
          ),
      ],
      "half precision",
    ],
    [
      "another vocabulary size",
      [({ s, ids }) => s.output(s.op("Gather", [s.random([VOCABULARY + 1, HIDDEN]), ids]), NAME)],
      "no embedding table with 7 rows (vocab_size",
    ],
    [
      "another number of positions",
      [({ s, embedded }) => s.output(embedded, NAME), states, "int64", 9],
      "no embedding table with 5 rows (max_position_embeddings",
    ],
    [
      "an output computed from the logits",
      [({ s, embedded }) => s.output(s.op("Gather", [embedded, s.index(0)], { axis: 1 }), "probabilities"), logits],
      "none of the outputs logits",
    ],
    [
      "an output of unknown shape",
      [({ s, embedded }) => s.output(s.op("Unheard", [embedded], {}, { domain: "of" }), NAME)],
      "an output last_hidden_state of unknown shape",
    ],
  ])("refuses %s", async (_, parts, message) => {
    await expect(read(...parts)).rejects.toMatchObject({
      code: "export_unsupported",
      message: expect.stringContaining(message),
      hint: expect.stringContaining("optimum-cli"),
    });
  });

  it("refuses inputs of a fixed size that it cannot change, of different sizes, and a model without an attention mask", async () => {
    const folder = await temporaryFolder();
    const write = async (shapes: readonly (readonly (number | string)[])[], inputs: readonly string[]) => {
      const s = new Sketch();
      const [ids] = inputs.map((name, i) => s.input(name, shapes[i] ?? shapes[0] ?? [], "int64"));
      s.output(s.op("Gather", [s.random([VOCABULARY, HIDDEN]), ids]), NAME);
      await writeFile(join(folder, "model.onnx"), encodeOnnx(s.graph));
      return exportedGraph(join(folder, "model.onnx"), config, [states]);
    };
    const inputs = ["input_ids", "attention_mask"];
    await expect(write([[1, 16]], inputs)).rejects.toThrow(
      "has inputs of a fixed size (1 × 16), and cannot be run at other sizes: Attention could not be fused: the graph has no attention",
    );
    await expect(
      write(
        [
          [1, 16],
          [1, "s"],
        ],
        inputs,
      ),
    ).rejects.toThrow("has inputs of different sizes: input_ids (1 × 16), attention_mask (1 × …)");
    await expect(write([["b", "s"]], ["input_ids"])).rejects.toThrow("no input attention_mask");
  });

  it("names the output that is already pooled, and what to do with the file", async () => {
    const reading = read(({ s, embedded }) =>
      s.output(s.op("ReduceMean", [embedded], { axes: [1], keepdims: 0 }), "sentence_embedding"),
    );
    await expect(reading).rejects.toMatchObject({
      code: "export_unsupported",
      message: expect.stringMatching(/It has sentence_embedding\. The output sentence_embedding is already pooled\.$/),
      hint: expect.stringMatching(
        /--task feature-extraction .*npx bert-edge quantize ".*model\.onnx" \.\/int8\.onnx --mode int8-dynamic/,
      ),
    });
  });
});

describe("the inputs of an export", () => {
  const size = ["batch", "sequence"];

  async function inputsOf(
    names: readonly string[],
    draw: (s: Sketch, inputs: readonly Value[]) => Value,
    dtype: DataType = "int32",
  ) {
    const s = new Sketch();
    const inputs = names.map((name) => s.input(name, size, dtype));
    const tokens = s.op("Gather", [s.random([VOCABULARY, HIDDEN]), inputs[0]]);
    const position = s.op("Gather", [s.random([POSITIONS, HIDDEN]), s.index(1)]);
    s.output(s.op("Add", [s.op("Add", [tokens, position]), draw(s, inputs)]), `${NAME}:0`);
    const path = join(await temporaryFolder(), "model.onnx");
    await writeFile(path, encodeOnnx(s.graph));
    return exportedGraph(path, config, [states]);
  }
  const types = (s: Sketch, [, , ids]: readonly Value[]) => s.op("Gather", [s.random([2, HIDDEN]), ids]);

  it.each<[readonly string[], DataType]>([
    [["input_ids:0", "attention_mask:0", "token_type_ids:0"], "int32"],
    [["serving_default_input_ids:0", "serving_default_attention_mask:0", "serving_default_token_type_ids:0"], "int32"],
    [["input_word_ids", "input_mask", "segment_ids"], "int64"],
  ])("%j get transformers' names and type, in the graph and in its file", async (names, dtype) => {
    const { graph, results } = await inputsOf(names, types, dtype);
    const file = fromOnnx(decodeModel(encodeOnnx(graph)));
    expect(file.inputs.map(({ name }) => name)).toEqual(graph.inputs.map(({ name }) => name));
    expect(results).toEqual([`${NAME}:0`]);
    expect(graph.inputs.map(({ name, dtype }) => [name, dtype])).toEqual([
      ["input_ids", "int64"],
      ["attention_mask", "int64"],
      ["token_type_ids", "int64"],
    ]);
  });

  it("are left out if they have other names and nothing reads them", async () => {
    const { graph } = await inputsOf(["input_ids", "attention_mask", "token_type_ids", "unique_ids"], types);
    expect(graph.inputs.map(({ name }) => name)).not.toContain("unique_ids");
  });

  it("are refused if two mean the same", async () => {
    await expect(
      inputsOf(["input_ids", "attention_mask", "token_type_ids", "segment_ids:0"], types),
    ).rejects.toMatchObject({
      code: "export_unsupported",
      message: expect.stringContaining("several inputs for token_type_ids: "),
    });
  });
});
