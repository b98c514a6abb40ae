import { expect, it } from "vitest";
import { taskStore } from "#test/fixtures/task-model.ts";
import type { Task } from "../artifact/manifest.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import { checkOutputs } from "./check-query.ts";
import { defaultLimits } from "./limits.ts";

const ids = (...list: number[]) => Int32Array.from(list);
const MASK = 103;
const NUMBER = 4;

it.each<[Task, bytes: number]>([
  [{ task: "embed", pooling: "mean", normalize: true, dimensions: 8 }, 2 * 8 * NUMBER],
  [{ task: "token-vectors", dimensions: 8 }, 5 * 8 * NUMBER],
  [{ task: "classify", input: "text", labels: ["a", "b", "c"] }, 2 * 3 * NUMBER],
  [{ task: "answer" }, 5 * 2 * NUMBER],
  [{ task: "sparse" }, 2 * 30_522 * NUMBER],
  [{ task: "fill-mask", mask: { id: MASK, token: "[MASK]" } }, 2 * 30_522 * NUMBER],
])("checkOutputs takes two sequences with as many bytes as are allowed, and not one more: %j", async (task, bytes) => {
  const store = await taskStore(task);
  const { manifest } = await openPublished(store, await readPointer(store, "tiny"));
  const check = (maxOutputBytes: number) =>
    checkOutputs(manifest, [ids(1, MASK), ids(MASK, 2, 3)], { ...defaultLimits, maxOutputBytes });
  check(bytes);
  expect(() => check(bytes - 1)).toThrow(expect.objectContaining({ code: "too_many_inputs" }));
});
