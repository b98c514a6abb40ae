// Installs the lowest wrangler that `bert-edge deploy` takes, and the newest, and deploys environments whose dry runs are theirs.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wranglerFor } from "#sdk/cli/wrangler/installed.ts";
import { commandLine } from "../commands/command-line.ts";

commandLine(
  "npm run e2e:wrangler\nDeploys environments with the lowest and the newest wrangler, from the registry of npm.",
);

const TESTS = ["sdk/src/cli/deploy/environments.long.test.ts", "sdk/src/cli/wrangler"];

for (const version of [wranglerFor.deploy, "latest"]) {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-wrangler-"));
  try {
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
    execFileSync("npm", ["install", "--no-audit", "--no-fund", `wrangler@${version}`], {
      cwd: folder,
      stdio: "inherit",
    });
    console.log(`wrangler ${version}`);
    const env = { ...process.env, WRANGLER_FOLDER: join(folder, "node_modules/wrangler") };
    execFileSync("vitest", ["run", "--project", "unit", "--project", "long", ...TESTS], { env, stdio: "inherit" });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
