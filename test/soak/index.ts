// Sends mixed traffic to an edge and a region for minutes, attacks both, publishes meanwhile, and prints memory over time. Exits with 1 if
// memory grows, an answer is wrong, a process ends, a caller with another key gets no answers, or a new version is not served.
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { table } from "#sdk/cli/output.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { commandLine, numberOf } from "../commands/command-line.ts";
import { HEAP_MIB } from "../fixtures/heap-limit.ts";
import { growth } from "./growth.ts";
import { isolateBytes, judge, MIN_MINUTES } from "./judge.ts";
import { openGiven, openModels, usualModels } from "./models.ts";
import { type Sample, soak } from "./soak.ts";

const [MINI] = usualModels.main;
const { values, refuse } = commandLine(
  `npm run soak -- [--minutes <number>] [--seed <number>] [--artifact <folder> | --model <folder>…] [--keep-versions] [--heap <MiB>]
Sends mixed traffic to an edge and a region, attacks both with another key, publishes meanwhile, and prints memory over time. Default: 10 minutes, and models/default,
which is prepared first, with small models of all tasks. --artifact: the same model, already prepared, with the name ${MINI}.
--model: an artifact of a sentence encoder with the targets edge and regional-cpu. All that are given replace the models above, and share
the isolate. The first is the default model, of which new versions are published: for a moment, two of them are in memory.
--keep-versions: no new versions. --heap: MiB of the isolate's heap, garbage included, before V8 runs out of memory (default ${HEAP_MIB}).
Large models leave less of an isolate's 128 MiB to it.`,
  {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    artifact: { type: "string" },
    model: { type: "string", multiple: true, default: [] },
    "keep-versions": { type: "boolean", default: false },
    heap: { type: "string", default: `${HEAP_MIB}` },
  },
);
if (values.artifact !== undefined && values.model.length > 0) refuse("Give either --artifact or --model.");
const minutes = numberOf("minutes", values.minutes, {}, refuse);
const durationMs = 60_000 * minutes;
/** Longer than the time in which the edge looks for a new version and loads it, unless the run is short. */
const publishMs = Math.min(100_000, durationMs / 3);
const OUTCOMES = ["answered", "refused", "busy", "aborted"];
const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);

await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-soak-"));
const [model, ...others] = values.model;
const opened = model === undefined ? await openUsual() : await openGiven([model, ...others], refuse);
async function openUsual() {
  const mini = values.artifact ?? join(folder.path, "mini");
  if (values.artifact === undefined)
    await prepare({ model: "models/default", out: mini, name: MINI, targets: ["edge", "regional-cpu"] });
  return { artifacts: await openModels(folder.path, mini), models: usualModels };
}
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
const soaked = await soak({
  ...opened,
  durationMs,
  sampleMs: 15_000,
  publishMs: values["keep-versions"] ? undefined : publishMs,
  heapMib: numberOf("heap", values.heap, { min: 1, isWhole: true }, refuse),
  seed: numberOf("seed", values.seed, { min: 0, isWhole: true }, refuse),
  // A short run has no time to wait until the edge looks for a new version.
  hurry: minutes < MIN_MINUTES,
  onSample: (sample) => console.error(row(sample).join("  ")),
});
const { samples, seen } = soaked;
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
    ["requests", ...OUTCOMES],
    [...seen.counts].sort().map(([kind, times]) => [kind, ...OUTCOMES.map((outcome) => `${times.get(outcome) ?? 0}`)]),
  )}`,
);
console.log(`\nanswers by tier: ${[...seen.tiers].map(([tier, times]) => `${tier} ${times}`).join(", ")}\n`);
console.log(`attacks: ${[...soaked.attacked.attacks].map(([kind, times]) => `${kind} ${times}`).join(", ")}\n`);
const verdicts = judge(soaked, minutes);
console.log(
  table(
    ["condition", "measured", ""],
    verdicts.map(({ what, measured, holds }) => [what, measured, holds ? "✓" : "✗"]),
  ),
);
if (minutes < MIN_MINUTES)
  for (const { what, measured } of growth(samples)) console.log(`not judged, too short: ${what}: ${measured}`);
for (const line of soaked.log) console.error(line);
for (const what of [...seen.wrong, ...soaked.steady.wrong, ...soaked.attacked.wrong].slice(0, 10))
  console.error(`wrong: ${what}`);
if (verdicts.some(({ holds }) => !holds)) process.exitCode = 1;
