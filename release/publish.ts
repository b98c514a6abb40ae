// Publishes both packages to npm: `npm run release:publish`. A second run publishes what is missing.

import { spawnSync } from "node:child_process";
import { commandLine } from "../test/commands/command-line.ts";
import { manifestOf, packages } from "./packages.ts";
import { publishMissing } from "./publish-missing.ts";

commandLine(`npm run release:publish
Publishes both packages to npm. A second run publishes what is missing.`);

publishMissing(
  new Map(packages.map((folder) => [folder, manifestOf(folder)])),
  (args) => {
    const { status, stdout, stderr } = spawnSync("npm", args, { encoding: "utf8" });
    return { code: status, output: `${stdout}${stderr}` };
  },
  (line) => console.log(line),
);
