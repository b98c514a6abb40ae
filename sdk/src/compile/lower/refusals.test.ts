import { describe, expect, it } from "vitest";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { MICROSOFT, type Value } from "../graph/node.ts";
import { int64s } from "../graph/tensor.ts";

import { precisions } from "../quantize/precisions.ts";
import { lower } from "./lower.ts";

const WIDTH = 16;
const TOKENS = 8;
const VOCABULARY = 100;

/** A sketch of what becomes of looked-up words. */
class Words extends Sketch {
  readonly ids = this.input("input_ids", ["batch", "sequence"], "int64");
  readonly words = this.op("Gather", [this.random([VOCABULARY, WIDTH]), this.ids]);

  linear(width = WIDTH, x = this.words, inputs = WIDTH): Value {
    return this.op("MatMul", [x, this.random([inputs, width])]);
  }

  tokens(): Value {
    return this.op("Gather", [this.op("Shape", [this.ids]), this.index(1)]);
  }

  /** 0, 1, …: [1, tokens] */
  positions(): Value {
    return this.op("Unsqueeze", [this.op("Range", [this.index(0), this.tokens(), this.index(1)]), [0]]);
  }

  /** Two heads turned; positions begin at that of the first token. */
  turned(x: Value, settings = {}, positions = this.constant(ZERO)): Value {
    const angles = [this.random([TOKENS, WIDTH / 4]), this.random([TOKENS, WIDTH / 4])];
    return this.op("RotaryEmbedding", [x, positions, ...angles], { num_heads: 2, ...settings }, { domain: MICROSOFT });
  }

  parts(x: Value, sizes: readonly number[], axis = -1): Value[] {
    const names = sizes.map((_, part) => `part${part}`);
    return this.node("Split", [x, sizes], { axis }, { outputs: names }).outputs as Value[];
  }

  first(): Value {
    return this.op("Gather", [this.words, this.index(0)], { axis: 1 });
  }
}

const ZERO = int64s(0);

/** How `lower` answers a graph whose results are those that `write` makes. */
function outcome(write: (s: Words) => Value | readonly Value[]): Promise<string> {
  const sketch = new Words();
  for (const [i, value] of [write(sketch)].flat().entries()) sketch.output(value as Value, `result${i}`);
  return refusalOf(lower(precisions["int8-edge"](sketch.graph)(), { maxTokens: TOKENS, vocabulary: VOCABULARY }));
}

describe("of values by position", () => {
  const plusRows = (s: Words, indices: Value) =>
    s.op("Add", [s.words, s.op("Gather", [s.random([99, WIDTH]), indices])]);

  it.each<[string, (s: Words) => Value, string]>([
    ["counted from the first token", (s) => plusRows(s, s.positions()), "accepted"],
    ["counted from the last token", (s) => plusRows(s, s.op("Sub", [s.tokens(), s.positions()])), "engine_unsupported"],
    [
      "divided by the number of tokens",
      (s) => {
        const rows = s.op("Gather", [s.random([99, WIDTH]), s.positions()]);
        return s.op("Add", [s.words, s.op("Div", [rows, s.op("Cast", [s.tokens()], { to: 1 })])]);
      },
      "engine_unsupported",
    ],
  ])("those %s", async (_, write, wanted) => {
    expect(await outcome(write)).toBe(wanted);
  });
});

describe("of heads turned in place", () => {
  it.each<[string, (s: Words) => Value | readonly Value[], string]>([
    ["that nothing else reads", (s) => s.turned(s.linear()), "accepted"],
    [
      "that are parts of what nothing else reads",
      (s) => s.op("Relu", [s.turned(s.parts(s.linear(32), [16, 16])[1] as Value)]),
      "accepted",
    ],
    [
      "that are a result too",
      (s) => {
        const x = s.linear();
        return [x, s.turned(x)];
      },
      "engine_unsupported",
    ],
    [
      "of which the whole is read too",
      (s) => {
        const x = s.linear(32);
        return s.op("Add", [s.op("Relu", [s.turned(s.parts(x, [16, 16])[0] as Value)]), s.linear(16, x, 32)]);
      },
      "engine_unsupported",
    ],
    [
      "that are parts in two ways",
      (s) => {
        const x = s.linear(32);
        const [one, other] = [s.parts(x, [16, 16])[0] as Value, s.parts(x, [16, 16])[0] as Value];
        return s.op("Add", [s.op("Relu", [s.turned(one)]), s.op("Relu", [other])]);
      },
      "engine_unsupported",
    ],
    ["from other positions", (s) => s.turned(s.linear(), {}, s.positions()), "engine_unsupported"],
    ["pair by pair", (s) => s.turned(s.linear(), { interleaved: 1 }), "engine_unsupported"],
    ["in part", (s) => s.turned(s.linear(32), { rotary_embedding_dim: 8 }), "engine_unsupported"],
  ])("those %s", async (_, write, wanted) => {
    expect(await outcome(write)).toBe(wanted);
  });
});

describe("of forms that no kernel has", () => {
  it.each<[string, (s: Words) => Value | readonly Value[], string]>([
    ["equal parts", (s) => s.op("Relu", [s.parts(s.linear(48), [24, 24])[1] as Value]), "accepted"],
    ["unequal parts", (s) => s.op("Relu", [s.parts(s.linear(48), [16, 32])[1] as Value]), "engine_unsupported"],
    ["parts of the tokens", (s) => s.op("Relu", [s.parts(s.linear(48), [1, 7], 1)[1] as Value]), "engine_unsupported"],
    ["a part as the result", (s) => s.parts(s.linear(48), [24, 24])[1] as Value, "engine_unsupported"],
    ["columns of tokens as a factor", (s) => s.op("Mul", [s.words, s.random([WIDTH, 1])]), "engine_unsupported"],
    [
      "statistics over tokens",
      (s) => s.op("LayerNormalization", [s.words, s.random([WIDTH]), s.random([WIDTH])], { axis: -2 }),
      "engine_unsupported",
    ],
    ["a sum of a sequence's row and its tokens'", (s) => s.op("Add", [s.words, s.first()]), "engine_unsupported"],
    ["a product of a sequence's row and its tokens'", (s) => s.op("Mul", [s.words, s.first()]), "engine_unsupported"],
  ])("%s", async (_, write, wanted) => {
    expect(await outcome(write)).toBe(wanted);
  });
});

describe("a bias stays a step of its own", () => {
  /** Steps that add one row to all. */
  const added = async (write: (s: Words) => readonly Value[]) => {
    const sketch = new Words();
    for (const [i, value] of write(sketch).entries()) sketch.output(value, `result${i}`);
    const graph = precisions["int8-edge"](sketch.graph)();
    const { program } = await lower(graph, { maxTokens: TOKENS, vocabulary: VOCABULARY });
    return program.steps.filter(({ op }) => op === "add").length;
  };

  it.each<[string, (s: Words) => readonly Value[], number]>([
    ["unless its product has it", (s) => [s.op("Add", [s.linear(), s.random([WIDTH])])], 0],
    [
      "where the product is a result too",
      (s) => {
        const x = s.linear();
        return [x, s.op("Add", [x, s.random([WIDTH])])];
      },
      1,
    ],
    ["where the product is turned before", (s) => [s.op("Add", [s.turned(s.linear()), s.random([WIDTH])])], 1],
  ])("%s", async (_, write, wanted) => {
    expect(await added(write)).toBe(wanted);
  });
});
