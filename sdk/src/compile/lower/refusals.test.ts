import { describe, expect, it } from "vitest";
import { refusalMessage } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { MICROSOFT, type Value } from "../graph/node.ts";
import { int64s } from "../graph/tensor.ts";
import { precisions } from "../quantize/precisions.ts";
import { lowerGraph } from "./lower-graph.ts";

const WIDTH = 16;
const TOKENS = 8;
const VOCABULARY = 100;
const ZERO = int64s(0);

/** A graph sketch with token embeddings, and with nodes for these tests. */
class EmbeddingsSketch extends Sketch {
  readonly ids = this.input("input_ids", ["batch", "sequence"], "int64");
  readonly embeddings = this.op("Gather", [this.random([VOCABULARY, WIDTH]), this.ids]);

  linear(width = WIDTH, x = this.embeddings, inputs = WIDTH): Value {
    return this.op("MatMul", [x, this.random([inputs, width])]);
  }

  tokens(): Value {
    return this.op("Gather", [this.op("Shape", [this.ids]), this.index(1)]);
  }

  /** Draws the positions 0, 1, … as [1, tokens]. */
  positions(): Value {
    return this.op("Unsqueeze", [this.op("Range", [this.index(0), this.tokens(), this.index(1)]), [0]]);
  }

  /** Rotates two heads of x. Default positions: 0, 1, … */
  rotated(x: Value, settings = {}, positions = this.constant(ZERO)): Value {
    const tables = [this.random([TOKENS, WIDTH / 4]), this.random([TOKENS, WIDTH / 4])];
    return this.op("RotaryEmbedding", [x, positions, ...tables], { num_heads: 2, ...settings }, { domain: MICROSOFT });
  }

  parts(x: Value, sizes: readonly number[], axis = -1): Value[] {
    const names = sizes.map((_, part) => `part${part}`);
    return this.node("Split", [x, sizes], { axis }, { outputs: names }).outputs as Value[];
  }

  firstToken(): Value {
    return this.op("Gather", [this.embeddings, this.index(0)], { axis: 1 });
  }
}

type Draw = (s: EmbeddingsSketch) => Value | readonly Value[];

/** Lowers the graph whose outputs `draw` returns. Resolves to the error message, or to "accepted". */
async function outcome(draw: Draw, pairs = false): Promise<string> {
  const sketch = new EmbeddingsSketch();
  for (const [i, value] of [draw(sketch)].flat().entries()) sketch.output(value as Value, `result${i}`);
  return refusalMessage(
    lowerGraph(await precisions["int8-edge"](sketch.graph)(), { maxTokens: TOKENS, vocabulary: VOCABULARY, pairs }),
  );
}

describe("lowerGraph, for tables by position", () => {
  const plusRows = (s: EmbeddingsSketch, indices: Value) =>
    s.op("Add", [s.embeddings, s.op("Gather", [s.random([99, WIDTH]), indices])]);

  it.each<[string, Draw, string]>([
    ["accepts positions counted from the first token", (s) => plusRows(s, s.positions()), "accepted"],
    [
      "refuses positions counted from the last token",
      (s) => plusRows(s, s.op("Sub", [s.tokens(), s.positions()])),
      "for 4 tokens is not a prefix of",
    ],
    [
      "refuses tables divided by the number of tokens",
      (s) => {
        const rows = s.op("Gather", [s.random([99, WIDTH]), s.positions()]);
        return s.op("Add", [s.embeddings, s.op("Div", [rows, s.op("Cast", [s.tokens()], { to: 1 })])]);
      },
      "for 4 tokens is not a prefix of",
    ],
  ])("%s", async (_, draw, wanted) => {
    expect(await outcome(draw)).toContain(wanted);
  });
});

describe("lowerGraph, for pairs of texts", () => {
  const types = (s: EmbeddingsSketch) => s.input("token_type_ids", ["batch", "sequence"], "int64");
  const rows = (s: EmbeddingsSketch, indices: Value, width = WIDTH) => s.op("Gather", [s.random([99, width]), indices]);

  it.each<[string, Draw, string]>([
    ["accepts a row for each token type", (s) => s.op("Add", [s.embeddings, rows(s, types(s))]), "accepted"],
    [
      "refuses rows that depend on the types of other tokens",
      (s) => s.op("Add", [s.embeddings, rows(s, s.op("CumSum", [types(s), s.index(1)]))]),
      "depends on the token types of other tokens",
    ],
    [
      "refuses angles that depend on the token type",
      (s) => {
        const angles = s.op("Squeeze", [rows(s, types(s), WIDTH / 4), [0]]);
        const inputs = [s.linear(), s.constant(ZERO), angles, angles];
        return s.op("RotaryEmbedding", inputs, { num_heads: 2 }, { domain: MICROSOFT });
      },
      "its cosines and sines depend on the text",
    ],
  ])("%s", async (_, draw, wanted) => {
    expect(await outcome(draw, true)).toContain(wanted);
    expect(await outcome(draw)).toContain("accepted");
  });
});

describe("lowerGraph, for rotary embeddings in place", () => {
  it.each<[string, Draw, string]>([
    ["accepts a tensor with no other reader", (s) => s.rotated(s.linear()), "accepted"],
    [
      "accepts a part of a tensor with no other reader",
      (s) => s.op("Relu", [s.rotated(s.parts(s.linear(32), [16, 16])[1] as Value)]),
      "accepted",
    ],
    [
      "refuses an output of the model",
      (s) => {
        const x = s.linear();
        return [x, s.rotated(x)];
      },
      "are rotated in place, but they are also an output of the model",
    ],
    [
      "refuses a part of a tensor that another node reads as a whole",
      (s) => {
        const x = s.linear(32);
        return s.op("Add", [s.op("Relu", [s.rotated(s.parts(x, [16, 16])[0] as Value)]), s.linear(16, x, 32)]);
      },
      "(DynamicQuantizeMatMul)",
    ],
    [
      "refuses a part that a second Split also reads",
      (s) => {
        const x = s.linear(32);
        const [one, other] = [s.parts(x, [16, 16])[0] as Value, s.parts(x, [16, 16])[0] as Value];
        return s.op("Add", [s.op("Relu", [s.rotated(one)]), s.op("Relu", [other])]);
      },
      "but they are also read by node",
    ],
    [
      "refuses positions that are not 0, 1, …",
      (s) => s.rotated(s.linear(), {}, s.positions()),
      "positions that start at 0",
    ],
    ["refuses interleaved pairs", (s) => s.rotated(s.linear(), { interleaved: 1 }), "not interleaved"],
    [
      "refuses to rotate only a part of each head",
      (s) => s.rotated(s.linear(32), { rotary_embedding_dim: 8 }),
      "only whole heads",
    ],
  ])("%s", async (_, draw, wanted) => {
    expect(await outcome(draw)).toContain(wanted);
  });
});

describe("lowerGraph, for operators that kernels support only in part", () => {
  it.each<[string, Draw, string]>([
    [
      "accepts a split into equal parts",
      (s) => s.op("Relu", [s.parts(s.linear(48), [24, 24])[1] as Value]),
      "accepted",
    ],
    [
      "refuses a split into unequal parts",
      (s) => s.op("Relu", [s.parts(s.linear(48), [16, 32])[1] as Value]),
      "only the last axis can be split, and only into parts of equal size",
    ],
    [
      "refuses a split of the token axis",
      (s) => s.op("Relu", [s.parts(s.linear(48), [1, 7], 1)[1] as Value]),
      "only the last axis can be split",
    ],
    [
      "refuses a part of a split as the model's output",
      (s) => s.parts(s.linear(48), [24, 24])[1] as Value,
      "the model's output is a slice of a tensor",
    ],
    [
      "refuses to multiply by one factor per token",
      (s) => s.op("Mul", [s.embeddings, s.random([WIDTH, 1])]),
      "must have the same shape, or one of them must be a constant row",
    ],
    [
      "refuses to normalize the token axis",
      (s) => s.op("LayerNormalization", [s.embeddings, s.random([WIDTH]), s.random([WIDTH])], { axis: -2 }),
      "only the last axis can be normalized",
    ],
    [
      "refuses to add one row per sequence to all of its tokens",
      (s) => s.op("Add", [s.embeddings, s.firstToken()]),
      "cannot be added",
    ],
    [
      "refuses to multiply all tokens of a sequence by one row",
      (s) => s.op("Mul", [s.embeddings, s.firstToken()]),
      "must have the same shape",
    ],
  ])("%s", async (_, draw, wanted) => {
    expect(await outcome(draw)).toContain(wanted);
  });
});

describe("lowerGraph, for an Add after a linear layer", () => {
  /** Counts the steps that add one row to all rows. */
  const countAdds = async (draw: (s: EmbeddingsSketch) => readonly Value[]) => {
    const sketch = new EmbeddingsSketch();
    for (const [i, value] of draw(sketch).entries()) sketch.output(value, `result${i}`);
    const graph = await precisions["int8-edge"](sketch.graph)();
    const { program } = await lowerGraph(graph, { maxTokens: TOKENS, vocabulary: VOCABULARY });
    return program.steps.filter(({ op }) => op === "add").length;
  };

  it.each<[string, (s: EmbeddingsSketch) => readonly Value[], number]>([
    ["makes the added row the layer's bias", (s) => [s.op("Add", [s.linear(), s.random([WIDTH])])], 0],
    [
      "adds the row in a separate step when the layer's result is also an output",
      (s) => {
        const x = s.linear();
        return [x, s.op("Add", [x, s.random([WIDTH])])];
      },
      1,
    ],
    [
      "adds the row in a separate step when the layer's result is rotated first",
      (s) => [s.op("Add", [s.rotated(s.linear()), s.random([WIDTH])])],
      1,
    ],
  ])("%s", async (_, draw, wanted) => {
    expect(await countAdds(draw)).toBe(wanted);
  });
});
