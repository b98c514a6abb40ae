import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { wranglerStandIn } from "#test/fixtures/wrangler-stand-in.ts";
import type { Measurements } from "../../artifact/measurements.ts";

// A stand-in is called in this process: each process of Node.js would load wrangler again.
vi.mock("./run-tool.ts", async () => ({ runTool: (await import("#test/fixtures/tool-stand-in.ts")).callStandIn }));

it("finds what only a person can do, and what is missing, before it changes anything", async () => {
  const root = await temporaryFolder();
  const artifact = await preparedTiny();
  const wrangler = await wranglerStandIn(root);
  await wrangler.change({ accounts: undefined });
  await mkdir(join(root, "functions"));
  await cp("functions/edge.ts", join(root, "functions/edge.ts"));
  const [secrets, config] = [join(root, "secrets"), join(root, "wrangler.toml")];
  const settings = await readFile("wrangler.toml", "utf8");
  await writeFile(config, settings);

  const env = { R2_ACCESS_KEY_ID: "", AWS_ACCESS_KEY_ID: "", AWS_PROFILE: "" };
  const deploy = (...more: string[]) =>
    runCommandLine(["deploy", "--model", artifact, "--json", ...more], { cwd: root, env });
  const refused = async (code: string, part: string) => {
    const outcome = await deploy("--secrets", secrets);
    expect([outcome.code, JSON.parse(outcome.stdout)]).toMatchObject([1, { error: { code } }]);
    expect(outcome.stderr).toContain(`Error ${code}: `);
    expect(outcome.stderr).toContain(part);
    expect(outcome.stderr).not.toContain("key-of-the-deployment");
  };
  await refused("setting_invalid", "cannot be read");
  await writeFile(secrets, "REGION_KEY=x\n");
  await refused("setting_invalid", "has no API_KEYS");
  await writeFile(secrets, "API_KEYS=key-of-the-deployment\n");
  await refused("project_invalid", "serves the model bert-edge-mini, not tiny");
  await writeFile(config, settings.replace("bert-edge-mini", "tiny"));
  await rm(join(root, "node_modules/hono"), { recursive: true });
  await refused("package_missing", "npm install hono");
  await cp("node_modules/hono/package.json", join(root, "node_modules/hono/package.json"));
  await refused("login_missing", "npx wrangler login");

  const dryRun = await deploy("--secrets", secrets, "--dry-run");
  expect(dryRun.code).toBe(0);
  const { steps } = JSON.parse(dryRun.stdout) as { steps: { name: string; state: string; why?: string }[] };
  expect(steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "bucket unknown",
    "model unknown",
    "secrets unknown",
    "worker planned",
  ]);
  expect(steps[0]?.why).toBe("wrangler is not logged in to Cloudflare.");
  expect(dryRun.stderr).toContain("Not looked at: wrangler is not logged in");

  // Only a dry run may leave the secrets out.
  const plan = JSON.parse((await deploy("--dry-run")).stdout) as { steps: { name: string; why?: string }[] };
  expect(plan.steps.find(({ name }) => name === "secrets")?.why).toContain("There is no --secrets <file>");
  expect((await deploy()).stderr).toContain("The option --secrets <file> is missing.");

  const account = (id: string) => ({ id, name: "Mill" });
  await wrangler.change({ accounts: [account("one"), account("two")] });
  await refused("login_missing", "one (Mill), two (Mill)");
  await wrangler.change({ accounts: [account("one")] });
  await refused("login_missing", "There are no keys for the R2 bucket.");
  expect(await wrangler.changes()).toEqual([]);
});

it("refuses a model that no Worker can hold, before it looks at the project", async () => {
  const large = join(await temporaryFolder(), "large");
  await cp(await preparedTiny(), large, { recursive: true });
  const file = join(large, "measurements.json");
  const measurements = JSON.parse(await readFile(file, "utf8")) as Measurements;
  const memory = { ...measurements.edge?.memory, peak: 200 * 2 ** 20 };
  await writeFile(file, JSON.stringify({ ...measurements, edge: { ...measurements.edge, memory } }));
  const { code, stderr } = await runCommandLine(["deploy", "--model", large, "--dry-run"], {
    cwd: await temporaryFolder(),
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /Error model_too_large: \S+: No Worker can run the edge target: it takes \d+ MiB of memory, and an isolate has 128 MiB\./,
  );
});
