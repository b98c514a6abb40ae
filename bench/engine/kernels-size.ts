import { stat } from "node:fs/promises";
import { builds } from "#test/suites/kernels/builds.ts";
import type { Measured } from "./measured.ts";

/** Adds up the sizes of both kernel builds. Every Worker contains both. */
export async function kernelsSize(): Promise<Measured> {
  const sizes = await Promise.all(
    builds.map(async (build) => {
      const { size } = await stat(new URL(`../../sdk/dist/kernels/${build}.wasm`, import.meta.url));
      return [build, size] as const;
    }),
  );
  return {
    figure: sizes.reduce((sum, [, size]) => sum + size, 0) / 1000,
    ours: sizes.map(([build, size]) => `${build} ${(size / 1000).toFixed(1)}`).join(" + "),
    details: { bytes: Object.fromEntries(sizes) },
  };
}
