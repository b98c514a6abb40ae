import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, it, vi } from "vitest";
import { buildOf, environmentProject, environmentSettings, NONE } from "#test/fixtures/environment-project.ts";
import { ELSEWHERE } from "#test/fixtures/wrangler-stand-in.ts";
import type { BertEdgeError } from "../../artifact/error.ts";
import { openProject } from "../dev/project.ts";
import { readWranglerConfig } from "./config.ts";

const DATE = { compatibility_date: "2026-01-01" };
const settings = (name: string, bucket: string, more: object = {}) =>
  JSON.stringify({ name, main: "functions/edge.ts", ...DATE, ...environmentSettings(bucket), ...more });
const ENVIRONMENTS = {
  env: {
    staging: environmentSettings("staging-models"),
    Europe_1: { ...environmentSettings("europe-models", { jurisdiction: "eu" }), name: "live_eu" },
    North_2: environmentSettings("north-models"),
  },
};
const toml = (name: string, bucket: string) =>
  `name = "${name}"\nmain = "functions/edge.ts"\ncompatibility_date = "2026-01-01"\nvars = { MODEL = "tiny" }\n[[r2_buckets]]\nbinding = "MODELS"\nbucket_name = "${bucket}"\n`;
const JSON_OF_ALL = { "wrangler.json": settings("api", "models", ENVIRONMENTS) };

interface Case {
  readonly files: Readonly<Record<string, string>>;
  /** The option `--env`. */
  readonly env?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

const CASES: Readonly<Record<string, Case>> = {
  "wrangler.json, wrangler.jsonc and wrangler.toml": {
    files: {
      "wrangler.json": settings("j", "j-models"),
      "wrangler.jsonc": settings("c", "c-models"),
      "wrangler.toml": toml("t", "t-models"),
    },
  },
  "wrangler.jsonc and wrangler.toml": {
    files: { "wrangler.jsonc": `${settings("c", "c-models")} // c`, "wrangler.toml": toml("t", "t-models") },
  },
  "wrangler.toml": { files: { "wrangler.toml": toml("t", "t-models") } },
  "wrangler.toml below a wrangler.json": {
    files: { "../wrangler.json": settings("above", "above-models"), "wrangler.toml": toml("t", "t-models") },
  },
  "wrangler.json below a wrangler.toml": {
    files: { "../wrangler.toml": toml("above", "above-models"), "wrangler.json": settings("j", "j-models") },
  },
  "a configuration above alone": { files: { "../wrangler.toml": toml("above", "above-models") } },
  CLOUDFLARE_ENV: { files: JSON_OF_ALL, variables: { CLOUDFLARE_ENV: "staging" } },
  "CLOUDFLARE_ENV, empty": { files: JSON_OF_ALL, variables: { CLOUDFLARE_ENV: "" } },
  "CLOUDFLARE_ENV, empty, and one in .env": {
    files: { ...JSON_OF_ALL, ".env": "CLOUDFLARE_ENV=staging\n" },
    variables: { CLOUDFLARE_ENV: "" },
  },
  "CLOUDFLARE_ENV in .env": { files: { ...JSON_OF_ALL, ".env": "export CLOUDFLARE_ENV = 'staging' # here\r\n" } },
  "CLOUDFLARE_ENV in .env, with a colon": { files: { ...JSON_OF_ALL, ".env": "CLOUDFLARE_ENV: staging\n" } },
  "CLOUDFLARE_ENV in .env, twice": {
    files: { ...JSON_OF_ALL, ".env": "CLOUDFLARE_ENV=North_2\nCLOUDFLARE_ENV=`staging`\n" },
  },
  "CLOUDFLARE_ENV in .env, after a byte order mark": {
    files: { ...JSON_OF_ALL, ".env": "\uFEFFCLOUDFLARE_ENV=staging\n" },
  },
  "CLOUDFLARE_ENV in .env, in the lines of another value": {
    files: { ...JSON_OF_ALL, ".env": 'TEXT="a\nCLOUDFLARE_ENV=North_2\nb"\nCLOUDFLARE_ENV="staging"\n' },
  },
  "CLOUDFLARE_ENV in .env, with a $": { files: { ...JSON_OF_ALL, ".env": "A=staging\nCLOUDFLARE_ENV=$A\n" } },
  "CLOUDFLARE_ENV in .env.local": {
    files: { ...JSON_OF_ALL, ".env": "CLOUDFLARE_ENV=North_2\n", ".env.local": "CLOUDFLARE_ENV=staging\n" },
  },
  "CLOUDFLARE_ENV in .env, empty in .env.local": {
    files: { ...JSON_OF_ALL, ".env": "CLOUDFLARE_ENV=staging\n", ".env.local": "CLOUDFLARE_ENV=\n" },
  },
  "CLOUDFLARE_ENV in .env, with --env": {
    files: { ...JSON_OF_ALL, ".env": "CLOUDFLARE_ENV=North_2\n" },
    env: "staging",
  },
  "CLOUDFLARE_ENV in .env, with an empty --env": {
    files: { ...JSON_OF_ALL, ".env": "CLOUDFLARE_ENV=staging\n" },
    env: "",
  },
  "CLOUDFLARE_ENV in .env.staging": { files: { ...JSON_OF_ALL, ".env.staging": "CLOUDFLARE_ENV=staging\n" } },
  "CLOUDFLARE_ENV in .dev.vars": { files: { ...JSON_OF_ALL, ".dev.vars": "CLOUDFLARE_ENV=staging\n" } },
  "an environment with _ and capitals, named": { files: JSON_OF_ALL, env: "Europe_1" },
  "an environment with _ and capitals": { files: JSON_OF_ALL, env: "North_2" },
  "an environment in other capitals": { files: JSON_OF_ALL, env: "Staging" },
  "a build of the top level": { files: { ...JSON_OF_ALL, ...buildOf("api", "models") } },
  "a build of an environment, with --env": {
    files: { ...JSON_OF_ALL, ...buildOf("api-staging", "staging-models", "staging") },
    env: "staging",
  },
  "a build of an environment, with CLOUDFLARE_ENV in .env": {
    files: {
      ...JSON_OF_ALL,
      ...buildOf("api-staging", "staging-models", "staging"),
      ".env": "CLOUDFLARE_ENV=staging\n",
    },
  },
  "a build of an environment, without --env": {
    files: { ...JSON_OF_ALL, ...buildOf("api-staging", "staging-models", "staging") },
  },
  "a build of another environment": {
    files: { ...JSON_OF_ALL, ...buildOf("api-staging", "staging-models", "staging") },
    env: "North_2",
  },
  "a build that is gone": {
    files: { ...JSON_OF_ALL, ".wrangler/deploy/config.json": '{"configPath":"../../dist/api/wrangler.json"}' },
  },
  "a build above": {
    files: {
      ...JSON_OF_ALL,
      "../.wrangler/deploy/config.json": '{"configPath":"../../w/wrangler.json"}',
      "../w/wrangler.json": "{}",
    },
  },
};

/** Reads Worker, bucket and model, or the error. */
function read(root: string, { env, variables = {} }: Case): string {
  for (const [name, value] of Object.entries({ ...NONE, ...variables })) vi.stubEnv(name, value);
  try {
    const config = readWranglerConfig(root, env);
    const { models } = openProject(root, config);
    const { name, deployedBucket: bucket } = config;
    return [name, bucket?.name, bucket?.jurisdiction, models].filter(Boolean).join(" ");
  } catch (error) {
    const { code, message, hint } = error as BertEdgeError;
    const places = { [root]: "<project>", [dirname(root)]: "<above>" };
    return Object.entries(places).reduce(
      (text, [path, name]) => text.replaceAll(path, name),
      `${code}: ${message} ${hint}`,
    );
  } finally {
    vi.unstubAllEnvs();
  }
}

/** Runs `wrangler deploy --dry-run` as a user would. */
function ofWrangler(root: string, { env, variables }: Case, program: string): Promise<string> {
  const report = join(root, "report.ndjson");
  const args = [
    program,
    "deploy",
    "--dry-run",
    "--outdir",
    join(root, "out"),
    ...(env === undefined ? [] : ["--env", env]),
  ];
  const own = { CI: "true", WRANGLER_SEND_METRICS: "false", WRANGLER_OUTPUT_FILE_PATH: report };
  const environment = { ...process.env, ...own, ...variables };
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd: root, env: environment }, async (error, stdout) => {
      const lines = (await readFile(report, "utf8")).trim().split("\n");
      const last = JSON.parse(lines.at(-1) ?? "{}") as { worker_name?: string; message?: string };
      if (error) return resolve(`refused: ${last.message}`);
      const [, bucket, jurisdiction] =
        /env\.MODELS \((\S+?)(?: \((\w+)\))?\)/.exec(stripVTControlCharacters(stdout)) ?? [];
      const [, model] = /env\.MODEL \("(.*)"\)/.exec(stdout) ?? [];
      resolve([last.worker_name, bucket, jurisdiction, model].filter(Boolean).join(" "));
    }),
  );
}

it("reads what wrangler would deploy, or refuses it by name", { timeout: 600_000 }, async () => {
  const table: string[] = [];
  for (const [name, each] of Object.entries(CASES)) {
    const { root, writeAll } = await environmentProject();
    await writeAll(each.files);
    const own = read(root, each);
    table.push(`${name}\n  ${own}`);
    if (ELSEWHERE === undefined) continue;
    const real = await ofWrangler(root, each, ELSEWHERE);
    console.log(`${name}\n  wrangler: ${real}\n  bert-edge: ${own}`);
    if (!/^\w+: /.test(own)) expect(own, name).toBe(real);
  }
  expect(table.join("\n")).toMatchInlineSnapshot(`
    "wrangler.json, wrangler.jsonc and wrangler.toml
      j j-models tiny
    wrangler.jsonc and wrangler.toml
      c c-models tiny
    wrangler.toml
      t t-models tiny
    wrangler.toml below a wrangler.json
      project_invalid: wrangler would read <above>/wrangler.json, not <project>/wrangler.toml. wrangler looks for wrangler.json first, also in the folders above. Delete that file, or write the settings of wrangler.toml into a wrangler.json beside it.
    wrangler.json below a wrangler.toml
      j j-models tiny
    a configuration above alone
      project_invalid: <project> has no wrangler.toml or wrangler.jsonc. Run this command in the folder of your project. \`npx create-bert-edge\` makes a new project.
    CLOUDFLARE_ENV
      api-staging staging-models tiny
    CLOUDFLARE_ENV, empty
      api models tiny
    CLOUDFLARE_ENV, empty, and one in .env
      api-staging staging-models tiny
    CLOUDFLARE_ENV in .env
      api-staging staging-models tiny
    CLOUDFLARE_ENV in .env, with a colon
      api-staging staging-models tiny
    CLOUDFLARE_ENV in .env, twice
      api-staging staging-models tiny
    CLOUDFLARE_ENV in .env, after a byte order mark
      api-staging staging-models tiny
    CLOUDFLARE_ENV in .env, in the lines of another value
      api-staging staging-models tiny
    CLOUDFLARE_ENV in .env, with a $
      setting_invalid: CLOUDFLARE_ENV in .env has a $, by which wrangler inserts a variable. Write the value itself into .env, or export CLOUDFLARE_ENV.
    CLOUDFLARE_ENV in .env.local
      api-staging staging-models tiny
    CLOUDFLARE_ENV in .env, empty in .env.local
      api models tiny
    CLOUDFLARE_ENV in .env, with --env
      api-staging staging-models tiny
    CLOUDFLARE_ENV in .env, with an empty --env
      api models tiny
    CLOUDFLARE_ENV in .env.staging
      api models tiny
    CLOUDFLARE_ENV in .dev.vars
      api models tiny
    an environment with _ and capitals, named
      live_eu europe-models eu tiny
    an environment with _ and capitals
      api-North_2 north-models tiny
    an environment in other capitals
      setting_invalid: wrangler.json has no environment "Staging" (--env). Did you mean staging? It has staging, Europe_1, North_2: give --env staging, or --env "" for the top level. Or add the environment to wrangler.json.
    a build of the top level
      api models tiny
    a build of an environment, with --env
      api-staging staging-models tiny
    a build of an environment, with CLOUDFLARE_ENV in .env
      api-staging staging-models tiny
    a build of an environment, without --env
      project_invalid: wrangler would use dist/api/wrangler.json, which .wrangler/deploy/config.json names. It is not a build of the top level of wrangler.json: the Worker is api-staging, not api; the bucket of MODELS is staging-models, not models. Build the project again, or choose the environment of the build with --env staging, or delete .wrangler/deploy/config.json to use the \`main\` of wrangler.json.
    a build of another environment
      project_invalid: wrangler would use dist/api/wrangler.json, which .wrangler/deploy/config.json names. It is not a build of the environment North_2 of wrangler.json: the Worker is api-staging, not api-North_2; the bucket of MODELS is staging-models, not north-models. Build the project again with CLOUDFLARE_ENV=North_2, or choose the environment of the build with --env staging, or delete .wrangler/deploy/config.json to use the \`main\` of wrangler.json.
    a build that is gone
      project_invalid: wrangler cannot use the build that a file .wrangler/deploy/config.json names. Build the project again, or delete that file (the cause names its path) to use the \`main\` of wrangler.json.
    a build above
      project_invalid: wrangler cannot use the build that a file .wrangler/deploy/config.json names. Build the project again, or delete that file (the cause names its path) to use the \`main\` of wrangler.json."
  `);
});
