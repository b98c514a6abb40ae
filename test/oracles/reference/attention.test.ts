import { describe, expect, it } from "vitest";
import { randomNumbers } from "../../fixtures/seeded.ts";
import { type AttentionInputs, quantizedAttention } from "./attention.ts";
import { integerProduct } from "./integer-product.ts";

/** Maximum error, relative to the largest value. Measured: at most 0.0257, over 64 draws of every shape below. */
const QUANTIZATION = 0.03;
/** Maximum error from rounding the two scales, their product and the result. Measured: half of this. */
const FLOAT32_ROUNDING = 2 ** -22;
const HIDDEN = -1e9;

interface Shape {
  readonly tokens: number;
  readonly heads: number;
  readonly size: number;
}
const shapes: Shape[] = [1, 2, 3, 17].flatMap((tokens) => [
  { tokens, heads: 1, size: 5 },
  { tokens, heads: 3, size: 8 },
]);

function draw({ tokens, heads, size }: Shape, seed: number, biasHeads = 0): AttentionInputs {
  const random = randomNumbers(seed);
  const numbers = (length: number, reach: number) => Float32Array.from({ length }, () => reach * (2 * random() - 1));
  const [query, key, value] = [2, 2, 3].map((reach) => numbers(tokens * heads * size, reach)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const bias = biasHeads ? numbers(biasHeads * tokens * tokens, 1) : undefined;
  return { query, key, value, bias, heads, size, scale: 1 / Math.sqrt(size) };
}

/** Computes attention in float64. */
function exactAttention({ query, key, value, bias, heads, size, scale }: AttentionInputs): number[] {
  const width = heads * size;
  const tokens = query.length / width;
  return Array.from(query, (_, at) => {
    const [token, head] = [Math.floor(at / width), Math.floor((at % width) / size)];
    const element = (x: Float32Array, row: number, i: number) => x[row * width + head * size + i] as number;
    const scores = Array.from({ length: tokens }, (_, other) => {
      let score = 0;
      for (let i = 0; i < size; i++) score += element(query, token, i) * element(key, other, i);
      const added = bias ? (bias[((head * tokens + token) * tokens + other) % bias.length] as number) : 0;
      return score * scale + added;
    });
    const max = Math.max(...scores);
    const weights = scores.map((score) => Math.exp(score - max));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.reduce((sum, weight, other) => sum + (weight / total) * element(value, other, at % size), 0);
  });
}

const run = (inputs: AttentionInputs) => quantizedAttention(inputs, integerProduct);
const tokensOf = ({ query, heads, size }: AttentionInputs) => query.length / (heads * size);

describe.each(shapes)("quantizedAttention of $tokens tokens, $heads heads of $size", (shape) => {
  it.each([0, 1, shape.heads])("is close to attention in float64, with biases of %d heads", async (biasHeads) => {
    for (let seed = 1; seed <= 8; seed++) {
      const inputs = draw(shape, seed, biasHeads);
      const wanted = exactAttention(inputs);
      const peak = Math.max(...inputs.value.map(Math.abs));
      (await run(inputs)).forEach((found, i) => {
        expect(Math.abs(found - (wanted[i] as number))).toBeLessThan(QUANTIZATION * peak);
      });
    }
  });

  it("uses weights that sum to 1", async () => {
    const inputs = draw(shape, 1);
    for (const found of await run({ ...inputs, value: inputs.value.map(() => 1) })) {
      expect(Math.abs(found - 1)).toBeLessThan(FLOAT32_ROUNDING);
    }
  });

  it("depends on the order of keys and values only where rounding errors are carried from token to token", async () => {
    const inputs = draw(shape, 2, shape.heads);
    const [tokens, width] = [tokensOf(inputs), shape.heads * shape.size];
    const turned = (at: number) => (at + 1) % tokens;
    const rows = (x: Float32Array) =>
      x.map((_, at) => x[turned(Math.floor(at / width)) * width + (at % width)] as number);
    const bias = inputs.bias?.map((_, at, all) => all[at - (at % tokens) + turned(at % tokens)] as number);
    const [turnedResult, result] = [
      await run({ ...inputs, key: rows(inputs.key), value: rows(inputs.value), bias }),
      await run(inputs),
    ];
    const largest = result.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    // A numerator has 7 bits, and each sixteenth token gets the error of the one before.
    const tolerance = tokens <= 16 ? 0 : largest / 127;
    result.forEach((value, i) => {
      expect(Math.abs((turnedResult[i] as number) - value)).toBeLessThanOrEqual(tolerance);
    });
  });

  it("computes each head independently", async () => {
    const inputs = draw(shape, 3, shape.heads);
    const { heads, size } = shape;
    const tokens = tokensOf(inputs);
    const all = await run(inputs);
    for (let head = 0; head < heads; head++) {
      const part = (x: Float32Array) => x.filter((_, at) => Math.floor(at / size) % heads === head);
      const bias = inputs.bias?.slice(head * tokens * tokens, (head + 1) * tokens * tokens);
      const alone = {
        ...inputs,
        query: part(inputs.query),
        key: part(inputs.key),
        value: part(inputs.value),
        bias,
        heads: 1,
      };
      expect(await run(alone)).toEqual(part(all));
    }
  });
});

describe("quantizedAttention", () => {
  it("returns the value itself for a single token", async () => {
    const inputs = draw({ tokens: 1, heads: 3, size: 8 }, 1);
    (await run(inputs)).forEach((found, i) => {
      const wanted = inputs.value[i] as number;
      expect(Math.abs(found - wanted)).toBeLessThanOrEqual(FLOAT32_ROUNDING * Math.abs(wanted));
    });
  });

  it("ignores keys that a bias hides", async () => {
    const [tokens, heads, size] = [5, 2, 4];
    const isHidden = (token: number) => token === 1 || token === 4;
    const drawn = draw({ tokens, heads, size }, 4);
    const bias = Float32Array.from({ length: tokens * tokens }, (_, at) => (isHidden(at % tokens) ? HIDDEN : 0));
    const changed = (x: Float32Array, change: (value: number, at: number) => number) =>
      x.map((value, at) => (isHidden(Math.floor(at / (heads * size))) ? change(value, at) : value));
    // Hidden keys become copies of a visible key. Hidden values only change their sign. So the scales stay the same.
    const like = (token: number) => (_: number, at: number) =>
      drawn.key[token * heads * size + (at % (heads * size))] ?? 0;
    const inputs = { ...drawn, key: changed(drawn.key, like(0)) };
    const found = await run({ ...inputs, bias });
    const key = changed(inputs.key, like(2));
    const value = changed(inputs.value, (value) => -value);
    expect(await run({ ...inputs, key, value, bias })).toEqual(found);
    expect(await run({ ...inputs, key, value })).not.toEqual(found);
  });

  it("returns NaN for rows of scores that are all NaN or −∞, and for no others", async () => {
    const inputs = draw({ tokens: 3, heads: 1, size: 4 }, 5);
    for (const hidden of [Number.NaN, Number.NEGATIVE_INFINITY]) {
      const bias = new Float32Array(9).fill(hidden, 3, 6);
      const found = await run({ ...inputs, bias });
      expect([...found].map(Number.isNaN)).toEqual(Array.from({ length: 12 }, (_, i) => i >= 4 && i < 8));
    }
  });
});
