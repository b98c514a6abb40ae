import { main } from "assemblyscript/asc";
import type { KernelCase } from "#test/suites/kernels/kernel-case.ts";
import { sampler } from "./sampler.ts";

const SOURCE = "assembly/peak.ts";
const OPTIONS = ["--enable", "simd", "--enable", "relaxed-simd", "--runtime", "stub", "--noAssert", "-O3"];
const ROUNDS = 10_000;

interface Exports {
  readonly INTEGER_MACS: WebAssembly.Global;
  readonly FLOAT_MACS: WebAssembly.Global;
  integerPeak(rounds: number): number;
  floatPeak(rounds: number): number;
}

/** A loop of multiply–adds that never wait for memory or for each other. */
interface Peak {
  readonly macs: number;
  /** @returns the seconds of one run of the loop */
  sample(): number;
}

/** Peak loops by unit. Integers use the relaxed dot product; floats use a multiplication and an addition. */
export type Peaks = Partial<Record<KernelCase<unknown>["unit"], Peak>>;

export async function openPeaks(): Promise<Peaks> {
  let binary: Uint8Array<ArrayBuffer> | undefined;
  const { error, stderr } = await main([SOURCE, ...OPTIONS, "-o", "peak.wasm", "--baseDir", import.meta.dirname], {
    writeFile(_, contents) {
      binary = contents as Uint8Array<ArrayBuffer>;
    },
  });
  if (error || !binary) throw new Error(`${SOURCE} does not compile: ${stderr}`, { cause: error });
  const { instance } = await WebAssembly.instantiate(binary, {});
  const kernels = instance.exports as unknown as Exports;
  return {
    "integer MAC": {
      macs: ROUNDS * kernels.INTEGER_MACS.value,
      sample: sampler(() => kernels.integerPeak(ROUNDS)),
    },
    "float MAC": { macs: ROUNDS * kernels.FLOAT_MACS.value, sample: sampler(() => kernels.floatPeak(ROUNDS)) },
  };
}
