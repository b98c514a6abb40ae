import { describe, expect, it } from "vitest";
import { reluF32 } from "./activations.ts";
import { difference } from "./difference.ts";
import { commonDrawing } from "./drawing.ts";
import type { KernelMachine } from "./place.ts";

const PLACEMENT = { seed: 7, guard: 0xff };
const call = reluF32.call({ rows: 2, width: 8, stride: 9, alpha: 1 }, commonDrawing(1));

/** Runs a correct kernel, and lets `spoil` change the memory afterwards. */
function spoilt(spoil: (memory: DataView, x: number, out: number) => void): Promise<string | undefined> {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const view = new DataView(memory.buffer);
  function kernel(x: number, stride: number, rows: number, width: number, out: number): void {
    for (let i = 0; i < rows * width; i++) {
      const value = view.getFloat32(x + 4 * (Math.floor(i / width) * stride + (i % width)), true);
      view.setFloat32(out + 4 * i, Math.max(value, 0), true);
    }
    spoil(view, x, out);
  }
  const kernels = { reluF32: kernel } as unknown as KernelMachine["kernels"];
  return difference("reluF32", call, { memory, kernels }, PLACEMENT);
}

describe("difference", () => {
  it("finds no difference if a kernel computes the same as the scalar reference", async () => {
    expect(await spoilt(() => {})).toBeUndefined();
  });

  it.each<[string, Parameters<typeof spoilt>[0], RegExp]>([
    [
      "a result that is one bit off",
      (memory, _, out) => memory.setUint8(out + 8, memory.getUint8(out + 8) ^ 1),
      /^operand 4, number 2: /,
    ],
    ["an operand that is written", (memory, x) => memory.setUint8(x + 3, 1), /^operand 0, number 0: /],
    [
      "a byte before the result",
      (memory, _, out) => memory.setUint8(out - 1, 0),
      /which belongs to no operand, became 0/,
    ],
    [
      "a byte after the result",
      (memory, _, out) => memory.setUint8(out + 64, 0),
      /which belongs to no operand, became 0/,
    ],
  ])("finds %s", async (_, spoil, wanted) => {
    expect(await spoilt(spoil)).toMatch(wanted);
  });
});
