import { type Build, builds } from "#test/suites/kernels/builds.ts";
import { difference } from "#test/suites/kernels/difference.ts";
import { commonDrawing } from "#test/suites/kernels/drawing.ts";
import { type KernelName, kernelTable } from "#test/suites/kernels/index.ts";
import type { EncoderSizes } from "#test/suites/kernels/kernel-case.ts";
import type { KernelMachine } from "#test/suites/kernels/place.ts";

/** Runs every kernel with the shapes of an encoder, and counts the calls that do not write what the reference kernel writes. */
export async function differences(
  encoder: EncoderSizes,
  machines: Readonly<Record<Build, KernelMachine>>,
): Promise<Record<KernelName, number>> {
  const counts = {} as Record<KernelName, number>;
  for (const kernel of Object.keys(kernelTable) as KernelName[]) {
    const { passes, call } = kernelTable[kernel];
    counts[kernel] = 0;
    for (const { shape } of passes(encoder)) {
      for (const build of builds) {
        const found = await difference(kernel, call(shape, commonDrawing(1)), machines[build], { seed: 1, guard: 0 });
        if (found !== undefined) counts[kernel]++;
      }
    }
  }
  return counts;
}
