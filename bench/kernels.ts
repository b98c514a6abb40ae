/**
 * Times every kernel of the WebAssembly engine with the matrix sizes of some encoders, for both builds:
 *
 *     npm run bench:kernels
 *
 * - Times are medians of one call, over interleaved rounds. Other programs on the machine mainly disturb calls that
 *   take several milliseconds.
 * - The operands of a call stay in the caches between calls. In a forward pass, weights do not stay in the caches.
 * - A rate is the number of multiply–adds per nanosecond. The rate of a kernel without multiply–adds is the number of
 *   values that it writes per nanosecond.
 * - "of peak" is the rate divided by the machine's peak rate of multiply–adds, measured in the same round.
 * - "share" is the kernel's share of the time of a forward pass.
 *
 * Before it is timed, every kernel is compared with the reference on small matrices, bit by bit.
 */
import { openKernels } from "#test/suites/kernels/builds.ts";
import { command } from "./command.ts";
import { type Figure, figuresOf } from "./figures.ts";
import { differences } from "./kernels/compare.ts";
import { describeKernels } from "./kernels/describe.ts";
import { encoders, tiny } from "./kernels/encoders.ts";
import { type KernelRow, measureEncoder } from "./kernels/measure.ts";
import { openPeaks } from "./kernels/peak.ts";
import { median } from "./run-tool.ts";

const MEMORY = 2 ** 25;

const ROUNDS = 21;
const SHORT_ROUNDS = 1;

await command({ usage: "npm run bench:kernels --", options: {} }, async ({ values: { short }, log }) => {
  const rounds = short ? SHORT_ROUNDS : ROUNDS;
  const peaks = await openPeaks();
  const machines = { relaxed: await openKernels("relaxed", MEMORY), simd: await openKernels("simd", MEMORY) };
  log.stage("comparison with the reference");
  const wrong = await differences(tiny, machines);
  const gigaMacs = Object.fromEntries(
    Object.entries(peaks).map(([unit, { macs, sample }]) => [
      unit,
      macs / median(Array.from({ length: rounds }, sample)) / 1e9,
    ]),
  );
  const isRight = Object.values(wrong).every((count) => count === 0);
  // The time of wrong kernels says nothing, and can be very long.
  const timed = short ? { tiny } : encoders;
  const results = Object.entries(isRight ? timed : {}).map(([name, encoder]) => {
    log.stage(name);
    return { name, encoder, rows: measureEncoder(encoder, machines, peaks, rounds) };
  });
  const peak = Object.entries(gigaMacs).map(([unit, rate]) => `${rate.toFixed(1)} G ${unit}/s`);
  return {
    figures: [
      ...figuresOf(
        "peak",
        Object.fromEntries(Object.entries(gigaMacs).map(([unit, rate]) => [unit, [rate, "billions per second"]])),
      ),
      ...Object.entries(wrong).flatMap(([kernel, count]) =>
        figuresOf(kernel, { "other bits": [count, "differences"] }),
      ),
      ...results.flatMap(({ rows }) => rows.flatMap(figuresOfRow)),
    ],
    text: [
      `peak: ${peak.join(", ")}; median of ${rounds} rounds`,
      ...results.map(({ name, rows }) => `${name}\n\n${describeKernels(rows)}`),
    ].join("\n\n"),
    details: { rounds, peakGigaMacs: gigaMacs, encoders: results },
  };
});

function figuresOfRow({ kernel, work, timings }: KernelRow): Figure[] {
  return Object.entries(timings).flatMap(([build, { seconds }]) =>
    figuresOf(kernel, {
      [`${build} time`]: [seconds, "s"],
      [`${build} rate`]: [work / seconds / 1e9, "billions per second"],
    }),
  );
}
