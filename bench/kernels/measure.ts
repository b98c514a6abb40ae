import { type Build, builds } from "#test/suites/kernels/builds.ts";
import { commonDrawing } from "#test/suites/kernels/drawing.ts";
import { type KernelName, kernelTable } from "#test/suites/kernels/index.ts";
import type { EncoderSizes, KernelCase } from "#test/suites/kernels/kernel-case.ts";
import { type KernelMachine, place } from "#test/suites/kernels/place.ts";
import { median } from "../run-tool.ts";
import type { Peaks } from "./peak.ts";
import { sampler } from "./sampler.ts";

/** Time of one call: medians over all rounds. */
interface Timing {
  readonly seconds: number;
  /** Rate as a share of the machine's peak rate; undefined for kernels without multiply–adds. */
  readonly ofPeak: number | undefined;
}

/** The measurements of a kernel for one shape. */
export interface KernelRow {
  readonly kernel: KernelName;
  readonly shape: object;
  /** Number of calls in one forward pass. */
  readonly times: number;
  readonly unit: KernelCase<unknown>["unit"];
  /** Work of one call, counted in `unit`: multiply–adds, or numbers that the kernel writes. */
  readonly work: number;
  readonly timings: Readonly<Record<Build, Timing>>;
}

/** Times every kernel with the shapes of an encoder. Each round measures the machine's peak rate, then both builds. */
export function measureEncoder(
  encoder: EncoderSizes,
  machines: Readonly<Record<Build, KernelMachine>>,
  peaks: Peaks,
  rounds: number,
): KernelRow[] {
  return (Object.keys(kernelTable) as KernelName[]).flatMap((kernel) => {
    const { passes, unit, ...calls } = kernelTable[kernel];
    return passes(encoder).map(({ shape, times }) => {
      const work = calls.work(shape);
      const samplers = builds.map((build) => {
        const operands = calls.call(shape, commonDrawing(1));
        return sampler(place(kernel, operands, machines[build], { seed: 1, guard: 0, alignment: 64 }).run);
      });
      const timings = timed(samplers, work, peaks[unit], rounds);
      return { kernel, shape: shape as object, times, unit, work, timings };
    });
  });
}

function timed(
  samplers: readonly (() => number)[],
  work: number,
  peak: Peaks["number"],
  count: number,
): Record<Build, Timing> {
  const rounds = Array.from({ length: count }, () => ({
    peak: peak && peak.macs / peak.sample(),
    seconds: samplers.map((sample) => sample()),
  }));
  const timings = builds.map((build, i): [Build, Timing] => {
    const seconds = rounds.map((round) => round.seconds[i] as number);
    const ofPeak = peak && median(rounds.map((round, at) => work / (seconds[at] as number) / (round.peak as number)));
    return [build, { seconds: median(seconds), ofPeak }];
  });
  return Object.fromEntries(timings) as Record<Build, Timing>;
}
