import { stripVTControlCharacters } from "node:util";
import { Command } from "commander";
import type { PublishableArtifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { TargetName } from "../../artifact/manifest.ts";
import { type AcceptedKeys, acceptKeyOption, envOption, port as portOption } from "../options.ts";
import { printJson, printNote, printResult } from "../output.ts";
import type { Service } from "../process-group.ts";
import { stageLog } from "../stage-log.ts";
import type { Project } from "./project.ts";

/** Exit code of a process that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Explains the table of requests. */
const COLUMNS = `
Each row is one request. tokens: length of the text. budget: the latency budget
of the request. tier: who answered. reason: why. predicted: time until this tier
answers, with its queue, the computation at the speed of this machine, and the
network between tiers. measured: time of the whole request here, with HTTP and
wrangler's proxy.
`;

/** Lines of services that tell a developer nothing: empty ones, and those of wrangler about its assets. */
const UNNEEDED = /^\s*$|Parsed \d+ valid header rule/;
/** The label that wrangler puts before each line about a request. */
const LABEL = "[wrangler:info] ";

/** Returns what a developer needs of a line that a service prints; undefined for nothing. */
export const neededLine = (line: string): string | undefined =>
  UNNEEDED.test(line) ? undefined : line.replace(LABEL, "");

interface Options extends AcceptedKeys {
  name?: string;
  port: number;
  env?: string;
  once?: true;
  json?: true;
  verbose?: true;
}

export const devCommand = new Command("dev")
  .description("run a model here: the edge in workerd, and the region in Node if there is a functions/region.ts")
  .argument(
    "<models...>",
    "Hugging Face model folder, a model of the Hugging Face Hub, or an artifact folder; of several models, the first is the default",
  )
  .option("--name <name>", "the name of a single model (default: the folder's name)")
  .addOption(acceptKeyOption())
  .option(...envOption)
  .option("--port <n>", "port of the edge", portOption, 8787)
  .option("--once", "print tables of requests with latency budgets, and exit")
  .option("--json", "print URL, key, model and version as JSON when they can be used")
  .option("--verbose", "print the tables of --once too, and the output of the services from the beginning")
  .action(
    async (
      models: string[],
      { name: givenName, acceptKey: acceptKeys, port, env, once: onlyOnce, json, verbose }: Options,
      command: Command,
    ) => {
      if (givenName !== undefined && models.length > 1)
        command.error("--name is for a single model. Prepare each with a name.");
      if (acceptKeys && models.length > 1)
        command.error("--accept-key is for a single model. Prepare each with its keys.");
      // These listeners are never removed. Without them, a package that wrangler loads would end the process at once at a signal.
      const interrupted = new Promise((resolve) => {
        for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, resolve);
      });
      let serving = false;
      interrupted.then(() => serving || process.exit(INTERRUPTED));
      const root = process.cwd();
      const { assertDifferent, openProject } = await import("./project.ts");
      const { readWranglerConfig } = await import("../wrangler/config.ts");
      const project = openProject(root, readWranglerConfig(root, env));
      const { assertWranglerFor } = await import("../wrangler/installed.ts");
      assertWranglerFor("dev", root);
      const targets: TargetName[] = project.region ? ["edge", ...regionalTargets()] : ["edge"];
      const { assertServable, localModel, preparedArtifact } = await import("./prepared.ts");
      using log = stageLog();
      const folders: Awaited<ReturnType<typeof localModel>>[] = [];
      for (const folder of models) {
        folders.push(await localModel({ root, folder, name: givenName, onProgress: log.progress }));
        log.done();
      }
      for (const folder of folders) await assertServable({ root, ...folder, targets, acceptKeys });
      const { edgePort } = await import("./ports.ts");
      const chosen = command.getOptionValueSource("port") === "cli";
      // Checked before preparing, which can take minutes.
      if (chosen) await edgePort(port, { chosen });

      const artifacts: PublishableArtifact[] = [];
      for (const folder of folders) {
        artifacts.push(await preparedArtifact({ root, ...folder, targets, acceptKeys, onProgress: log.progress }));
      }
      assertDifferent(artifacts);
      const { isRegional, startStack } = await import("./stack.ts");
      const manifests = artifacts.map(({ manifest }) => manifest);
      const hasRegion = regionalTargets().some((target) => manifests.some(({ targets }) => targets[target]));
      const stack = await startStack({
        project: hasRegion ? project : { ...project, region: undefined },
        artifacts,
        port: () => {
          log.done();
          return edgePort(port, { chosen });
        },
        onStage: log.stage,
        onOutput: (service, line) => {
          const text = stripVTControlCharacters(line).trimEnd();
          const shown = verbose ? text : serving ? neededLine(text) : undefined;
          if (shown !== undefined) printNote(`[${service}] ${shown}`);
        },
      });
      try {
        log.stage("send a request");
        const { introduction } = await import("./introduction.ts");
        const { CROWD, crowd, tour } = await import("./tour.ts");
        const answer = await introduction(stack, manifests);
        const tables = async () =>
          `${COLUMNS}\n${await tour(stack)}${stack.region ? `\n${CROWD}\n${await crowd(stack)}` : ""}`;
        // The tables show requests for embeddings, so only encoders have them.
        const isEncoder = manifests[0]?.task === "embed";
        const table = isEncoder && (onlyOnce || verbose) ? await tables() : "";
        log.done();
        if (project.region && !hasRegion)
          printNote("The artifact has no regional target, so the region was not started.");
        const edgeAlone = manifests.filter((manifest) => hasRegion && !isRegional(manifest)).map(({ name }) => name);
        if (edgeAlone.length > 0)
          printNote(
            `The region does not serve ${edgeAlone.join(", ")}, for which no regional target was prepared. The edge alone answers such requests.`,
          );
        const { edgeMisfit } = await import("../../compile/commands/prepare-warnings.ts");
        const { forecastOf } = await import("../../compile/latency/platforms/forecast.ts");
        for (const { manifest, measurements } of artifacts) {
          const misfit = edgeMisfit(forecastOf(manifest, measurements).fit);
          if (misfit !== undefined)
            printNote(`${manifest.name}: ${misfit} It runs here: a local workerd has no such limit.`);
        }
        noteOtherModels(
          project,
          manifests.map(({ name }) => name),
        );
        const { edge, region, published } = stack;
        const [first] = published;
        if (json) printJson({ ...edge, model: first?.name, version: first?.version, region: region?.url });
        if (onlyOnce) {
          if (!json) printResult(table || answer);
          return;
        }
        if (!json) {
          printResult(`\n${answer}`);
          if (table) printResult(table);
          printResult("\nStop it with Ctrl-C.");
        }
        serving = true;
        const ended = await Promise.race([stack.ended, interrupted.then(() => undefined)]);
        if (ended) throw serviceEnded(ended);
      } finally {
        serving = false;
        await stack.stop();
      }
    },
  );

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

/** Tells the user that the deployed Worker serves other models than the local one. */
function noteOtherModels({ config, models: named }: Project, served: readonly string[]): void {
  if (named.length === 0) return;
  if (named.length === served.length && named.every((name) => served.includes(name))) return;
  printNote(
    `${config} says MODEL = "${named.join(",")}". Here the Worker serves ${served.join(", ")}. To serve the same when deployed, set ` +
      `MODEL = "${served.join(",")}". To serve ${named.length > 1 ? "those" : "that"} here:\n    npx bert-edge dev ${named.map((name) => `models/${name}`).join(" ")}`,
  );
}
