import { Command } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import type { Manifest, Target } from "../artifact/manifest.ts";
import type { Calibration, TimedTarget } from "../compile/latency/time-targets.ts";
import { listOf, positiveInteger, positiveIntegers } from "./options.ts";
import { printJson, printNote, printResult, table } from "./output.ts";

type EngineName = Target["engine"];
const engines = ["wasm", "ort-web", "ort-node"] as const satisfies readonly EngineName[];

interface Options {
  engines?: EngineName[];
  tokens: number[];
  rounds: number;
  json?: true;
}

export const benchCommand = new Command("bench")
  .description("time an artifact's engines side by side, and store the fitted costs in its manifest")
  .argument("<artifact>", "artifact folder")
  .option(
    "--engines <list>",
    `comma-separated: ${engines.join(", ")} (default: those that the artifact is for)`,
    listOf(engines),
  )
  .option("--tokens <list>", "sequence lengths", positiveIntegers, [8, 16, 32, 64, 128, 256])
  .option("--rounds <n>", "timed rounds; the median of them counts", positiveInteger, 15)
  .option("--json", "print figures and fits as JSON")
  .action(async (folder: string, { engines: names, tokens, rounds, json }: Options) => {
    const { calibrate, timedTargets } = await import("../compile/latency/time-targets.ts");
    const { writeManifest } = await import("../compile/pack/write-artifact.ts");
    const { openFolder } = await import("../storage/folder-artifact.ts");
    const artifact = await openFolder(folder);
    const onRound = (round: number) => {
      if (process.stderr.isTTY) process.stderr.write(`\rround ${round} of ${rounds} `);
    };
    const timed = timedTargets.filter((target) => artifact.manifest.targets[target]);
    const targets = names?.map((name) => targetOf(artifact.manifest, name, timed)) ?? timed;
    const { calibration, manifest } = await calibrate(artifact, { targets, tokens, rounds, onRound });
    const longest = Math.max(...tokens);
    if (new Set(tokens).size >= 3 && Math.min(...tokens) <= 16 && longest >= manifest.maxTokens / 2) {
      await writeManifest(folder, manifest);
      printNote(`\nCosts stored in ${folder}.`);
    } else {
      printNote(
        "\nCosts not stored: that takes three lengths, one up to 16 and one of at least half the model's longest.",
      );
    }
    if (json) printJson({ model: manifest.name, unit: "ms", rounds, engines: byEngine(manifest, calibration) });
    else printResult(describe(manifest, calibration));
  });

/** @throws BertEdgeError `engine_mismatch` */
function targetOf({ name: model, targets }: Manifest, engine: EngineName, timed: readonly TimedTarget[]): TimedTarget {
  const target = timed.find((name) => targets[name]?.engine === engine);
  if (target) return target;
  throw new BertEdgeError("engine_mismatch", `No target of ${model} is for the engine ${engine}.`, {
    hint: `It has ${timed.map((name) => targets[name]?.engine).join(" and ")}.`,
  });
}

const byEngine = ({ targets }: Manifest, calibration: Calibration) =>
  Object.fromEntries(
    (Object.entries(calibration) as [TimedTarget, object][]).map(([name, figures]) => [targets[name]?.engine, figures]),
  );

function describe({ name, targets }: Manifest, { edge, "regional-cpu": native }: Calibration): string {
  const ms = (value: number | undefined) => value?.toFixed(2) ?? "";
  const rows = (edge ?? native)?.points.map(({ tokens }, i) => {
    const [web, node] = [edge?.points[i]?.ms, native?.points[i]?.ms];
    return [String(tokens), ms(web), ms(node), web && node ? (web / node).toFixed(2) : ""];
  });
  const heads = ["tokens", targets.edge?.engine ?? "edge", targets["regional-cpu"]?.engine ?? "region", "ratio"];
  return `${name}, ms, medians\n${table(heads, rows ?? [])}`;
}
