// Installs the packed package from the npm registry into an empty project, and runs the README's example on Node 22 and 24.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { commandLine } from "../commands/command-line.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { pack, runNode, threeLineExample } from "./install.ts";

commandLine(
  "npm run e2e:package\nInstalls the packed package from the npm registry, and runs the README's example on Node 22 and 24.",
);

const folder = await mkdtemp(join(tmpdir(), "bert-edge-e2e-"));
try {
  const npm = (...args: string[]) => execFileSync("npm", args, { cwd: folder, stdio: "inherit" });
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  npm("install", await pack("sdk", folder));
  await writePreparableCheckpoint(join(folder, "checkpoint"));
  await prepare({ model: join(folder, "checkpoint"), out: join(folder, "artifact"), name: "tiny", targets: ["edge"] });
  await writeFile(join(folder, "example.mjs"), await threeLineExample());
  for (const version of [22, 24]) {
    const name = `node-${process.platform}-${process.arch}`;
    npm("install", "--no-save", `${name}@${version}`);
    const node = join(folder, "node_modules", name, "bin/node");
    const lengths = await runNode(folder, ["example.mjs"], node);
    console.log(`Node ${(await runNode(folder, ["--version"], node)).trim()}: vectors of ${lengths.trim()} dimensions`);
    if (lengths !== "16,16\n") process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
