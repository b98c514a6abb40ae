import { once } from "node:events";
import { resolve } from "node:path";
import { Command } from "commander";
import { positiveInteger } from "../options.ts";
import { printNote, printResult, stageLog } from "../output.ts";
import { passedOver } from "../passed-over.ts";

/** Exit code of a process that Ctrl-C ended. */
const INTERRUPTED = 130;

interface Options {
  name?: string;
  port: number;
  once?: true;
  verbose?: true;
}

export const devCommand = new Command("dev")
  .description("prepare a model and run the whole system here: object storage, edge (workerd) and region (Node)")
  .argument("<folder>", "Hugging Face model folder")
  .option("--name <name>", "the model's name (default: the folder's name)")
  .option("--port <n>", "port of the edge; another one is chosen if it is in use", positiveInteger, 8787)
  .option("--once", "print a table of requests and exit")
  .option("--verbose", "print the output of the services")
  .action(async (folder: string, { name, port, once: onlyOnce, verbose }: Options) => {
    const { prepare } = await import("../../compile/commands/prepare.ts");
    const { startStack } = await import("./stack.ts");
    const { tour } = await import("./tour.ts");
    const interrupted = Promise.race(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal)));
    let serving = false;
    interrupted.then(() => serving || process.exit(INTERRUPTED));
    const log = stageLog();
    const artifact = resolve(".bert-edge/dev");
    const report = await prepare({ model: folder, out: artifact, ...(name && { name }), onProgress: log.progress });
    log.done();
    for (const line of passedOver(report)) printNote(line);
    const stack = await startStack({
      root: process.cwd(),
      artifact,
      port,
      onStage: log.stage,
      ...(verbose && { onOutput: (service: string, text: string) => printNote(`[${service}] ${text.trimEnd()}`) }),
    });
    try {
      const { edgeURL, apiKey, published } = stack;
      log.stage("ask for embeddings");
      const answers = await tour(stack);
      log.done();
      printResult(`\n${published.name}@${published.version}\n${answers}`);
      if (onlyOnce) return;
      printResult(`\nThe edge listens at ${edgeURL}. Try it:\n\n${curl(edgeURL, apiKey)}\n\nStop it with Ctrl-C.`);
      serving = true;
      await interrupted;
    } finally {
      await stack.stop();
    }
  });

const curl = (url: string, key: string): string =>
  `curl ${url}/v1/embed -i -H 'authorization: Bearer ${key}' -H 'content-type: application/json' ` +
  `-H 'x-latency-budget-ms: 50' -d '{"inputs": "to be or not to be"}'`;
