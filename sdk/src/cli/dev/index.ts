import { Command } from "commander";
import { BertEdgeError } from "../../artifact/error.ts";
import type { TargetName } from "../../artifact/manifest.ts";
import { port } from "../options.ts";
import { printNote, printResult, stageLog } from "../output.ts";
import type { Service } from "./process.ts";

/** Exit code of a process that Ctrl-C ended. */
const INTERRUPTED = 130;

interface Options {
  name?: string;
  port: number;
  once?: true;
  verbose?: true;
}

export const devCommand = new Command("dev")
  .description("run a model here: the edge in workerd, and the region in Node if there is a functions/region.ts")
  .argument("<folder>", "Hugging Face model folder, or an artifact folder")
  .option("--name <name>", "the model's name (default: the folder's name)")
  .option("--port <n>", "port of the edge; another one is chosen if it is in use", port, 8787)
  .option("--once", "print a table of requests and exit")
  .option("--verbose", "print the output of the services from the beginning")
  .action(async (folder: string, { name, port, once: onlyOnce, verbose }: Options) => {
    // These listeners stay. When no listener of ours is left, a package that wrangler loads ends the process at once.
    const interrupted = new Promise((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, resolve);
    });
    let serving = false;
    interrupted.then(() => serving || process.exit(INTERRUPTED));
    const root = process.cwd();
    const { assertServable, preparedArtifact } = await import("./prepared.ts");
    await assertServable({ root, folder, name });
    const { openProject } = await import("./project.ts");
    const project = openProject(root);

    const log = stageLog();
    const targets: TargetName[] = project.region ? ["edge", ...regionalTargets()] : ["edge"];
    const artifact = await preparedArtifact({ root, folder, name, targets, onProgress: log.progress });
    const { startStack } = await import("./stack.ts");
    const { tour } = await import("./tour.ts");
    const hasRegion = regionalTargets().some((target) => artifact.manifest.targets[target]);
    const stack = await startStack({
      project: hasRegion ? project : { ...project, region: undefined },
      artifact,
      port,
      onStage: log.stage,
      onOutput: (service, text) => {
        if (verbose || serving) printNote(`[${service}] ${text.trimEnd()}`);
      },
    });
    try {
      const { edge, published } = stack;
      log.stage("ask for embeddings");
      const answers = await tour(stack);
      log.done();
      if (project.region && !hasRegion)
        printNote("The artifact has no regional target, so the region was not started.");
      printResult(`\n${published.name}@${published.version}\n${answers}`);
      if (onlyOnce) return;
      printResult(`\nThe edge listens at ${edge.url}. Try it:\n\n${curl(edge)}\n\nStop it with Ctrl-C.`);
      serving = true;
      const ended = await Promise.race([stack.ended, interrupted.then(() => undefined)]);
      if (ended) throw serviceEnded(ended);
    } finally {
      await stack.stop();
    }
  });

const serviceEnded = ({ name }: Service) =>
  new BertEdgeError("service_failed", `${name} ended by itself.`, {
    hint: "Correct the error in its output above, then run the command again.",
  });

/** Returns the targets that the region loads: one for each kind of provider in the environment variable `PROVIDERS`. */
const regionalTargets = (): TargetName[] => {
  const providers = (process.env["PROVIDERS"] ?? "cpu").split(",");
  return [
    ...(providers.includes("cpu") ? (["regional-cpu"] as const) : []),
    ...(providers.some((provider) => provider !== "cpu") ? (["regional-gpu"] as const) : []),
  ];
};

const curl = ({ url, key }: { url: string; key: string }): string =>
  `curl ${url}/v1/embed -i -H 'authorization: Bearer ${key}' -H 'content-type: application/json' ` +
  `-H 'x-latency-budget-ms: 50' -d '{"inputs": "to be or not to be"}'`;
