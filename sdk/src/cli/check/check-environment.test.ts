import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { environmentSettings } from "#test/fixtures/environment-project.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { wranglerStandIn } from "#test/fixtures/wrangler-stand-in.ts";
import { environmentToCheck } from "./check-environment.ts";

const [STAGING, LIVE] = ["https://api-staging.test.workers.dev", "https://api.test.workers.dev"];

it("checks the URL that deploy has kept for an environment, and names what belongs to another one", async () => {
  for (const name of ["CLOUDFLARE_ENV", "CLOUDFLARE_ACCOUNT_ID"]) vi.stubEnv(name, "");
  const root = await temporaryFolder();
  await wranglerStandIn(root);
  const env = { staging: environmentSettings("models", { jurisdiction: "eu" }), other: environmentSettings("models") };
  await writeFile(join(root, "wrangler.json"), JSON.stringify({ name: "api", ...environmentSettings("models"), env }));
  await mkdir(join(root, ".wrangler"));
  const kept = { worker: "api-staging", account: "acc1", url: STAGING };
  await writeFile(join(root, ".wrangler/bert-edge-deployment.staging.json"), JSON.stringify(kept));
  const check = (option: string, url?: string, model = "tiny") => environmentToCheck(root, option, { url, model });

  const { url, findings } = await check("staging");
  expect([url, findings.map(({ level }) => level)]).toEqual([STAGING, ["ok"]]);
  expect(findings[0]?.what).toBe(
    "It is the environment staging (--env): the Worker api-staging, which reads the bucket models (jurisdiction eu).",
  );
  const levels = async (...given: Parameters<typeof check>) =>
    (await check(...given)).findings.map(({ level }) => level);
  expect(await levels("staging", `${STAGING}/`)).toEqual(["ok"]);
  expect(await levels("staging", LIVE)).toEqual(["ok", "broken"]);
  expect(await levels("staging", STAGING, "large")).toEqual(["ok", "broken"]);
  await expect(check("other")).rejects.toMatchObject({
    code: "setting_invalid",
    hint: expect.stringContaining("check <url>"),
  });
  await expect(check("stagin")).rejects.toMatchObject({ message: expect.stringContaining("Did you mean staging?") });
  vi.unstubAllEnvs();
});
