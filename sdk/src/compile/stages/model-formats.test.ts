import { expect, it } from "vitest";
import { Graph } from "../graph/graph.ts";
import { keepingLast } from "./model-formats.ts";

it("makes a graph's file once, until it makes another's", async () => {
  const made: Graph[] = [];
  const { encode, extension } = keepingLast({
    extension: "onnx",
    mixesPrecisions: true,
    async encode(graph) {
      made.push(graph);
      return Uint8Array.of(made.length);
    },
  });
  const [one, other] = [new Graph("one"), new Graph("other")];
  expect(extension).toBe("onnx");
  expect([await encode(one), await encode(one), await encode(other), await encode(one)]).toEqual(
    [1, 1, 2, 3].map((count) => Uint8Array.of(count)),
  );
  expect(made).toEqual([one, other, one]);
});
