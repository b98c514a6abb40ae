/**
 * Times every kernel of the WebAssembly engine with the matrix sizes of some encoders, for both builds:
 *
 *     npm run bench:kernels -- [--json]
 *
 * - Times are medians of one call, over interleaved rounds. Other programs on the machine mainly disturb calls that
 *   take several milliseconds.
 * - The operands of a call stay in the caches between calls. In a forward pass, weights do not stay in the caches.
 * - A rate is the number of multiply–adds per nanosecond. The rate of a kernel without multiply–adds is the number of
 *   values that it writes per nanosecond.
 * - "of peak" is the rate divided by the machine's peak rate of multiply–adds, measured in the same round.
 * - "share" is the kernel's share of the time of a forward pass.
 */
import { parseArgs } from "node:util";
import { printJson, printResult } from "#sdk/cli/output.ts";
import { stageLog } from "#sdk/cli/stage-log.ts";
import { openKernels } from "#test/suites/kernels/builds.ts";
import { describeKernels } from "./kernels/describe.ts";
import { encoders } from "./kernels/encoders.ts";
import { measureEncoder, ROUNDS } from "./kernels/measure.ts";
import { openPeaks } from "./kernels/peak.ts";
import { median } from "./run-tool.ts";

const MEMORY = 2 ** 25;

const { values } = parseArgs({ options: { json: { type: "boolean" } } });
const log = stageLog();
const peaks = await openPeaks();
const machines = { relaxed: await openKernels("relaxed", MEMORY), simd: await openKernels("simd", MEMORY) };
const gigaMacs = Object.fromEntries(
  Object.entries(peaks).map(([unit, { macs, sample }]) => [
    unit,
    macs / median(Array.from({ length: ROUNDS }, sample)) / 1e9,
  ]),
);
const results = Object.entries(encoders).map(([name, encoder]) => {
  log.stage(name);
  return { name, encoder, rows: measureEncoder(encoder, machines, peaks) };
});
log.done();
if (values.json) printJson({ rounds: ROUNDS, peakGigaMacs: gigaMacs, encoders: results });
else {
  const peak = Object.entries(gigaMacs).map(([unit, rate]) => `${rate.toFixed(1)} G ${unit}/s`);
  printResult(`peak: ${peak.join(", ")}; median of ${ROUNDS} rounds`);
  for (const { name, rows } of results) printResult(`\n${name}\n\n${describeKernels(rows)}`);
}
