// Checks that both packages can be published with a tag: `npm run release:check`, with the tag in GITHUB_REF_NAME.
import { commandLine } from "../test/commands/command-line.ts";
import { faults } from "./faults.ts";
import { manifestOf, packages } from "./packages.ts";

commandLine("npm run release:check\nChecks that both packages can be published with the tag in GITHUB_REF_NAME.");

const manifests = new Map(packages.map((folder) => [`${folder}/package.json`, manifestOf(folder)]));
const found = faults(process.env["GITHUB_REF_NAME"] ?? "", manifests);
for (const fault of found) console.error(fault);
if (found.length > 0) process.exitCode = 1;
