import { expect, it } from "vitest";
import { correlatedTokens, momentsOf } from "#test/fixtures/moments.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { productsOf } from "../products.ts";
import { I8 } from "./grid.ts";
import { TO_THE_NEAREST } from "./quantize-weight.ts";
import { weights } from "./weights.ts";

it("asks for a weight's moments once, however often it is quantized", () => {
  const s = new Sketch();
  s.output(s.op("MatMul", [s.input("x", ["n", 8]), s.random([8, 16])]));
  const [product] = productsOf(s.graph);
  if (!product) throw new Error("no product");
  const asked: string[] = [];
  const moments = momentsOf(correlatedTokens(8, 20, 1));
  const calibration = {
    get(name: string) {
      asked.push(name);
      return moments;
    },
  };
  const of = weights({ ...TO_THE_NEAREST, compensation: true }, calibration);
  const first = of(product, I8);
  expect(of(product, I8)).toBe(first);
  expect(asked).toEqual([product.weight.name]);
});
