import { readFileSync } from "node:fs";
import { Command } from "commander";
import { ownFolder } from "../local/own-module.ts";
import { batchCommand } from "./batch/index.ts";
import { benchCommand } from "./bench.ts";
import { checkCommand } from "./check/index.ts";
import { completionCommand } from "./completion.ts";
import { deployCommand } from "./deploy/index.ts";
import { devCommand } from "./dev/index.ts";
import { doctorCommand } from "./doctor/index.ts";
import { embedCommand } from "./embed.ts";
import { explainCommand } from "./explain.ts";
import { gcCommand } from "./gc.ts";
import { inspectCommand } from "./inspect.ts";
import { keysCommand } from "./keys.ts";
import { listCommand } from "./list.ts";
import { modelsCommand } from "./models.ts";
import { optimizeCommand } from "./optimize.ts";
import { prepareCommand } from "./prepare.ts";
import { promoteCommand, rollbackCommand } from "./promote.ts";
import { publishCommand } from "./publish.ts";
import { quantizeCommand } from "./quantize.ts";
import { throwUsageErrors } from "./usage-error.ts";
import { verifyCommand } from "./verify.ts";

const { version } = JSON.parse(readFileSync(`${ownFolder()}/../package.json`, "utf8")) as {
  version: string;
};

export const program = new Command("bert-edge")
  .description("Prepare, publish and serve BERT-family models at the edge, inside a latency budget.")
  .version(version);
const commands = [
  modelsCommand,
  prepareCommand,
  inspectCommand,
  optimizeCommand,
  quantizeCommand,
  verifyCommand,
  benchCommand,
  embedCommand,
  batchCommand,
  publishCommand,
  listCommand,
  promoteCommand,
  rollbackCommand,
  gcCommand,
  deployCommand,
  checkCommand,
  devCommand,
  doctorCommand,
  explainCommand,
  keysCommand,
];
for (const command of [...commands, completionCommand(program)]) program.addCommand(command);
throwUsageErrors(program);
