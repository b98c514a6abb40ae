import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { wranglerStandIn } from "#test/fixtures/wrangler-stand-in.ts";
import { openProject } from "../dev/project.ts";
import { bucketSetting, modelSetting, readWranglerConfig } from "./config.ts";

const bucket = (name: string) => [{ binding: "MODELS", bucket_name: name }];
const SETTINGS = {
  ...{ name: "api", main: "functions/edge.ts", compatibility_date: "2026-01-01", vars: { MODEL: "small" } },
  r2_buckets: bucket("models"),
  env: {
    staging: { vars: { MODEL: "small" }, r2_buckets: bucket("staging-models") },
    production: { name: "live", vars: { MODEL: "large" }, account_id: "acc", r2_buckets: bucket("live-models") },
    empty: {},
  },
};

let root: string;

beforeEach(async () => {
  for (const name of ["CLOUDFLARE_ENV", "CLOUDFLARE_ACCOUNT_ID"]) vi.stubEnv(name, undefined);
  root = await temporaryFolder();
  await wranglerStandIn(root);
  await mkdir(join(root, "functions"));
  await writeFile(join(root, "functions/edge.ts"), "export default {};\n");
  await write("wrangler.json", JSON.stringify(SETTINGS));
});
afterEach(() => void vi.unstubAllEnvs());

const write = (name: string, text: string) => writeFile(join(root, name), text);
const chosen = (option?: string) => {
  const { name, environment, deployedBucket } = readWranglerConfig(root, option);
  return [environment.name, environment.from, name, deployedBucket?.name];
};

describe("readWranglerConfig", () => {
  it("chooses --env, then CLOUDFLARE_ENV, then that of .env.local and .env", async () => {
    expect(chosen()).toEqual([undefined, undefined, "api", "models"]);
    await write(".env", "CLOUDFLARE_ENV=staging\n");
    expect(chosen()).toEqual(["staging", "CLOUDFLARE_ENV in .env", "api-staging", "staging-models"]);
    await write(".env.local", "CLOUDFLARE_ENV='production' # here\n");
    expect(chosen()).toEqual(["production", "CLOUDFLARE_ENV in .env.local", "live", "live-models"]);
    vi.stubEnv("CLOUDFLARE_ENV", "staging");
    expect(chosen()).toEqual(["staging", "CLOUDFLARE_ENV", "api-staging", "staging-models"]);
    expect(chosen("production")).toEqual(["production", "--env", "live", "live-models"]);
    expect(chosen("")).toEqual([undefined, "--env", "api", "models"]);
    // As for wrangler, an empty variable does not hide that of a file.
    vi.stubEnv("CLOUDFLARE_ENV", "");
    expect(chosen()[1]).toBe("CLOUDFLARE_ENV in .env.local");
  });

  it("reads the account from the files of an environment only with --env", async () => {
    await write(".env.production", "CLOUDFLARE_ACCOUNT_ID=acc9\n");
    expect(readWranglerConfig(root, "production").variable("CLOUDFLARE_ACCOUNT_ID")).toEqual({
      ...{ value: "acc9", from: "CLOUDFLARE_ACCOUNT_ID in .env.production" },
    });
    vi.stubEnv("CLOUDFLARE_ENV", "production");
    expect(readWranglerConfig(root).variable("CLOUDFLARE_ACCOUNT_ID")).toBeUndefined();
    expect(readWranglerConfig(root).account).toBe("acc");
  });

  it("prefers wrangler.json, then wrangler.jsonc, then wrangler.toml, and takes a folder .env for none", async () => {
    await write("wrangler.jsonc", '{ "name": "c" } // a comment');
    await write("wrangler.toml", 'name = "t"\n');
    await mkdir(join(root, ".env"));
    expect(chosen()[2]).toBe("api");
    await write("wrangler.json", '{ "name": "j" }');
    expect(chosen()[2]).toBe("j");
  });

  it("refuses an environment that is not there, and names those that are", async () => {
    await write(".env", "CLOUDFLARE_ENV=prodution\n");
    expect(() => chosen()).toThrow(
      expect.objectContaining({
        code: "setting_invalid",
        message: 'wrangler.json has no environment "prodution" (CLOUDFLARE_ENV in .env). Did you mean production?',
        hint: expect.stringContaining("It has staging, production, empty"),
      }),
    );
    await write("wrangler.json", JSON.stringify({ ...SETTINGS, env: undefined }));
    // wrangler alone would deploy a Worker api-production with the bucket of the top level.
    expect(() => chosen("production")).toThrow(/has no environment "production" \(--env\)/);
  });

  it("does not guess a variable that wrangler inserts another one into", async () => {
    await write(".env", "STAGE=staging\nCLOUDFLARE_ENV=$STAGE\n");
    expect(() => chosen()).toThrow(expect.objectContaining({ code: "setting_invalid" }));
    expect(chosen("staging")[0]).toBe("staging");
  });

  it.each(["eu", "fedramp", "us"])("reads the jurisdiction %s", async (jurisdiction) => {
    await write(
      "wrangler.json",
      JSON.stringify({ ...SETTINGS, r2_buckets: [{ ...bucket("models")[0], jurisdiction }] }),
    );
    expect(readWranglerConfig(root).deployedBucket).toEqual({ name: "models", jurisdiction });
    expect(readWranglerConfig(root, "staging").deployedBucket?.jurisdiction).toBeUndefined();
  });

  it("refuses another jurisdiction", async () => {
    await write(
      "wrangler.json",
      JSON.stringify({ ...SETTINGS, r2_buckets: [{ ...bucket("models")[0], jurisdiction: "EU" }] }),
    );
    expect(() => chosen()).toThrow(
      expect.objectContaining({ code: "project_invalid", hint: expect.stringContaining("eu, fedramp, us") }),
    );
  });
});

describe("openProject", () => {
  it("says where a binding is missing, because environments inherit none", async () => {
    const open = (option: string) => openProject(root, readWranglerConfig(root, option));
    expect(open("production").environment.name).toBe("production");
    expect(() => open("empty")).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(
          "no R2 binding named MODELS in the environment empty, which inherits no bindings.",
        ),
        hint: expect.stringContaining('to the list "r2_buckets" of "empty" in "env" in wrangler.json'),
      }),
    );
    await write("wrangler.json", JSON.stringify({ ...SETTINGS, r2_buckets: [] }));
    expect(() => open("")).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("no R2 binding named MODELS at its top level."),
        hint: expect.stringContaining("Choose an environment with --env: staging, production, empty. Or add"),
      }),
    );
  });
});

it("says how to set the parts of an environment in TOML", () => {
  const config = {
    path: "wrangler.toml",
    environment: { name: "staging", from: "--env", option: "staging", all: ["staging"] },
  };
  expect(modelSetting(config, "m")).toBe('MODEL = "m" under [env.staging.vars] in wrangler.toml');
  expect(bucketSetting(config, "b")).toContain("an [[env.staging.r2_buckets]] section");
});
