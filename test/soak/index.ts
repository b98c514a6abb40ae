// Sends mixed traffic to an edge and a region for minutes, publishes meanwhile, and prints memory over time. Exits with 1 if memory
// grows, an answer is wrong, or a new version is not served.
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { table } from "#sdk/cli/output.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { isolateBytes, judge } from "./judge.ts";
import { MODELS, openModels } from "./models.ts";
import { type Sample, soak } from "./soak.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "1" } },
});
const minutes = Number(values.minutes);
const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);

await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-soak-"));
const mini = join(folder.path, "mini");
await prepare({ model: "models/default", out: mini, name: MODELS[0], targets: ["edge", "regional-cpu"] });
const row = (sample: Sample) => {
  const { atMs, requests, isolate, models, peak, workerd, regionHeap, region } = sample;
  const bytes = [
    isolate.heap,
    isolate.buffers,
    models,
    isolateBytes(sample),
    peak + models,
    workerd,
    regionHeap,
    region,
  ];
  return [`${Math.round(atMs / 1000)} s`, `${requests}`, ...bytes.map(mib)];
};
const { samples, seen, liveAfterMs } = await soak({
  artifacts: await openModels(folder.path, mini),
  durationMs: 60_000 * minutes,
  sampleMs: 15_000,
  // Longer than the time in which the edge looks for a new version and loads it.
  publishMs: 100_000,
  seed: Number(values.seed),
  onSample: (sample) => console.error(row(sample).join("  ")),
});
const columns = [
  "time",
  "requests",
  "heap",
  "buffers",
  "models",
  "isolate",
  "with garbage",
  "workerd",
  "region heap",
  "region",
];
console.log(
  `Memory in MiB. isolate: heap, buffers and models, after a garbage collection. workerd and region: resident.\n`,
);
console.log(table(columns, samples.map(row)));
console.log(
  `\n${table(
    ["requests", "times"],
    [...seen.counts].sort().map(([kind, times]) => [kind, `${times}`]),
  )}`,
);
console.log(`\nanswers by tier: ${[...seen.tiers].map(([tier, times]) => `${tier} ${times}`).join(", ")}\n`);
const verdicts = judge({ samples, seen, liveAfterMs }, minutes);
console.log(
  table(
    ["condition", "measured", ""],
    verdicts.map(({ what, measured, holds }) => [what, measured, holds ? "✓" : "✗"]),
  ),
);
for (const what of seen.wrong.slice(0, 10)) console.error(`wrong: ${what}`);
if (verdicts.some(({ holds }) => !holds)) process.exitCode = 1;
