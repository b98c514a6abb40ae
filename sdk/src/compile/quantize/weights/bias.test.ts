import { describe, expect, it } from "vitest";
import { Graph } from "../../graph/graph.ts";
import { type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { Product } from "../products.ts";
import { biasOf } from "./bias.ts";

const numbers = (...values: number[]): Tensor => tensor("float32", [values.length], Float32Array.from(values));

describe("biasOf", () => {
  const graph = new Graph("bias");
  const constant = graph.constant("bias", numbers(1, 2));
  const computed = graph.input("computed");
  const productWith = (bias: Product["bias"]): Product => ({
    name: "dense",
    x: graph.input("x"),
    weight: graph.constant("weight", numbers(1, 2)) as Product["weight"],
    bias,
  });
  const shift = Float32Array.of(0.5, -0.25);

  it("is the product's bias without a shift, and where it is computed", () => {
    for (const bias of [undefined, constant, computed]) expect(biasOf(graph, productWith(bias), undefined)).toBe(bias);
    expect(biasOf(graph, productWith(computed), shift)).toBe(computed);
  });

  it("is the shift, added to what was there", () => {
    const found = (bias: Product["bias"]) => biasOf(graph, productWith(bias), shift)?.constant;
    expect([...toFloat32(found(undefined) as Tensor)]).toEqual([0.5, -0.25]);
    expect([...toFloat32(found(constant) as Tensor)]).toEqual([1.5, 1.75]);
    expect([...toFloat32(constant.constant as Tensor)]).toEqual([1, 2]);
  });
});
