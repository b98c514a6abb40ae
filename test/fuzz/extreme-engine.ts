import type { Engine } from "#sdk/runtime/engine/engine.ts";

const LARGEST = 3.4028234663852886e38;
const SMALLEST = 1.401298464324817e-45;

/** Makes an engine give the outputs at the ends of float32: zeros, the largest and the smallest numbers. All of them are finite. */
export const extremeEngine = (engine: Engine): Engine => ({
  ...engine,
  async load(source) {
    const session = await engine.load(source);
    return { ...session, run: async (...given) => (await session.run(...given)).map(extreme) };
  },
});

/** The first number of an output chooses what becomes of it. */
function extreme(output: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  switch (Math.floor(1_000 * Math.abs(output[0] ?? 0)) % 5) {
    case 0:
      return output.fill(0);
    case 1:
      return output.map((value) => Math.sign(value) * LARGEST);
    case 2:
      return output.map((value) => Math.sign(value) * SMALLEST);
    case 3:
      return output.fill(-LARGEST);
    default:
      return output.map((value, i) => (i === 0 ? LARGEST : value));
  }
}
