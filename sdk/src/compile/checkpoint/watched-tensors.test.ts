import { expect, it } from "vitest";
import { float32Scalar } from "../graph/tensor.ts";
import { WatchedTensors } from "./watched-tensors.ts";

it("WatchedTensors names the tensors that were not read, except those that change no result", () => {
  const names = ["b", "a", "read", "embeddings.position_ids", "bert.pooler.dense.weight", "my_pooler.weight"];
  const weights = new WatchedTensors(names.map((name) => [name, float32Scalar(1)]));
  expect(weights.get("read")).toEqual(float32Scalar(1));
  expect(weights.has("b")).toBe(true);
  expect(weights.unread).toEqual(["a", "b", "my_pooler.weight"]);
});
