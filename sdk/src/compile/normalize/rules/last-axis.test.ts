import { expect, it } from "vitest";
import { rewritten } from "#test/oracles/rewritten.ts";
import { int64s, numbersOf, type Tensor, tensor } from "../../graph/tensor.ts";

const int32s = (...values: number[]) => tensor("int32", [values.length], Int32Array.from(values));

it.each<[string, (...values: number[]) => Tensor]>([
  ["int64", int64s],
  ["int32", int32s],
])("the last axis of a Slice becomes −1, in the type of its bounds: %s", async (dtype, of) => {
  const { graph } = await rewritten((s) => {
    const bounds = [of(1), of(3), of(2)].map((bound) => s.constant(bound));
    s.output(s.op("Slice", [s.input("x", ["batch", "sequence", 8]), ...bounds]));
  });
  const axes = graph.sorted()[0]?.inputs[3]?.constant;
  expect(axes?.dtype).toBe(dtype);
  expect(axes && numbersOf(axes)).toEqual([-1]);
});
