import { Command } from "commander";
import type { Target } from "../artifact/manifest.ts";
import type { BenchReport } from "../compile/commands/bench.ts";
import type { TimedTarget } from "../compile/latency/time-targets.ts";
import { listOf, positiveInteger, positiveIntegers } from "./options.ts";
import { printJson, printNote, printResult, table } from "./output.ts";
import { stageLog } from "./stage-log.ts";

type EngineName = Target["engine"];
const engines = ["wasm", "ort-web", "ort-node"] as const satisfies readonly EngineName[];

interface Options {
  engines?: EngineName[];
  tokens: number[];
  rounds: number;
  json?: true;
}

export const benchCommand = new Command("bench")
  .description("time an artifact's engines on this machine, and store in the artifact how long each text length takes")
  .argument("<artifact>", "artifact folder")
  .option(
    "--engines <list>",
    `comma-separated: ${engines.join(", ")} (default: the engines of the artifact)`,
    listOf(engines),
  )
  .option("--tokens <list>", "comma-separated sequence lengths", positiveIntegers, [8, 16, 32, 64, 128, 256])
  .option("--rounds <n>", "number of timed rounds; the median counts", positiveInteger, 15)
  .option("--json", "print the report as JSON")
  .action(async (folder: string, { json, ...options }: Options) => {
    const { bench } = await import("../compile/commands/bench.ts");
    using log = stageLog();
    const report = await bench({ artifact: folder, ...options, onProgress: log.progress });
    log.done();
    printNote(
      report.stored
        ? `Latencies stored in ${folder}.`
        : "Latencies not stored: this requires three lengths, one of at most 16 tokens and one of at least half the model's maximum.",
    );
    if (json) printJson(byEngine(report));
    else printResult(describe(report));
  });

function byEngine({ manifest, rounds, points, measurements }: BenchReport) {
  const engines = (Object.keys(points) as TimedTarget[]).map((name) => [
    manifest.targets[name]?.engine,
    { points: points[name], latency: measurements[name]?.latency },
  ]);
  return { model: manifest.name, unit: "ms", rounds, engines: Object.fromEntries(engines) };
}

function describe({ manifest: { name, targets }, points: { edge, "regional-cpu": native } }: BenchReport): string {
  const ms = (value: number | undefined) => value?.toFixed(2) ?? "";
  const rows = (edge ?? native)?.map(({ tokens }, i) => {
    const [web, node] = [edge?.[i]?.ms, native?.[i]?.ms];
    return [String(tokens), ms(web), ms(node), web && node ? (web / node).toFixed(2) : ""];
  });
  const heads = ["tokens", targets.edge?.engine ?? "edge", targets["regional-cpu"]?.engine ?? "region", "ratio"];
  return `${name}, ms, medians\n${table(heads, rows ?? [])}`;
}
