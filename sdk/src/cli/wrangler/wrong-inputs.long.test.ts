import { expect, it, vi } from "vitest";
import { environmentProject, environmentSettings } from "#test/fixtures/environment-project.ts";
import { SeededChoice } from "#test/fuzz/choose.ts";
import { faultOf } from "#test/fuzz/wrong/judge-refusal.ts";

// A stand-in is called in this process: a project's deployment starts a dozen.
vi.mock("../deploy/run-tool.ts", async () => ({
  runTool: (await import("#test/fixtures/tool-stand-in.ts")).callStandIn,
}));

const ENVIRONMENTS = ["staging", "production", "preview", "canary", "europe", "testing"];
const CONFIGS = ["wrangler.json", "wrangler.jsonc"];

const choice = new SeededChoice(20_261_129);
const pick = <T>(values: readonly T[]): T => choice.of(values);
/** Makes a spelling mistake: leaves out a letter in the middle. */
const misspelt = (name: string) => {
  const at = 1 + choice.below(name.length - 2);
  return name.slice(0, at) + name.slice(at + 1);
};

interface Drawn {
  readonly environment: string;
  readonly wrong: string;
  readonly account: string;
  readonly jurisdiction: string;
  readonly other: string;
  readonly file: string;
  readonly config: string;
}

/** A wrong project, and what the hint says to do. */
interface Case {
  readonly settings?: (drawn: Drawn) => Record<string, unknown>;
  readonly files?: (drawn: Drawn) => Record<string, string>;
  readonly args?: (drawn: Drawn) => string[];
  readonly variables?: (drawn: Drawn) => Record<string, string>;
  /** The same project after the hint. */
  readonly fixed: Omit<Case, "fixed">;
}

const settingsOf = ({ environment }: Drawn) => ({
  ...{ name: "api", main: "functions/edge.ts", compatibility_date: "2026-01-01", ...environmentSettings("models") },
  env: { [environment]: environmentSettings(`models-${environment}`) },
});
const bound = (jurisdiction: string) => (drawn: Drawn) => ({
  ...settingsOf(drawn),
  ...environmentSettings("models", { jurisdiction }),
});
const chosen = ({ environment }: Drawn) => ["--env", environment];
const endpoint = (jurisdiction: string) => ["--endpoint", `https://acc1.${jurisdiction}.r2.cloudflarestorage.com`];

const CASES: Readonly<Record<string, Case>> = {
  "a misspelt --env": { args: ({ wrong }) => ["-e", wrong], fixed: { args: chosen } },
  "a misspelt CLOUDFLARE_ENV": { variables: ({ wrong }) => ({ CLOUDFLARE_ENV: wrong }), fixed: { args: chosen } },
  "a misspelt CLOUDFLARE_ENV in a file": {
    files: ({ file, wrong }) => ({ [file]: `CLOUDFLARE_ENV="${wrong}"\n` }),
    fixed: { args: () => ["--env", ""] },
  },
  "an environment where there are none": {
    settings: (drawn) => ({ ...settingsOf(drawn), env: undefined }),
    args: chosen,
    fixed: { settings: (drawn) => ({ ...settingsOf(drawn), env: undefined }), args: () => ["--env", ""] },
  },
  "an account of somebody else in a file": {
    files: ({ file, account }) => ({ [file]: `CLOUDFLARE_ACCOUNT_ID=${account}\n` }),
    fixed: { files: ({ file }) => ({ [file]: "CLOUDFLARE_ACCOUNT_ID=acc1\n" }) },
  },
  "an account of somebody else in the configuration": {
    settings: (drawn) => ({ ...settingsOf(drawn), account_id: drawn.account }),
    fixed: { settings: (drawn) => ({ ...settingsOf(drawn), account_id: "acc1" }) },
  },
  "a jurisdiction that R2 does not have": {
    settings: (drawn) => bound(drawn.jurisdiction)(drawn),
    fixed: { settings: (drawn) => bound("eu")(drawn) },
  },
  "an endpoint of another jurisdiction": {
    settings: bound("eu"),
    args: ({ other }) => endpoint(other),
    fixed: { settings: bound("eu") },
  },
  "an environment without bindings": {
    settings: (drawn) => ({ ...settingsOf(drawn), env: { [drawn.environment]: { vars: { MODEL: "tiny" } } } }),
    args: chosen,
    fixed: { args: chosen },
  },
  "bindings in environments alone": {
    settings: (drawn) => ({ ...settingsOf(drawn), r2_buckets: [] }),
    fixed: { settings: (drawn) => ({ ...settingsOf(drawn), r2_buckets: [] }), args: chosen },
  },
  "another model in an environment": {
    settings: (drawn) => ({
      ...settingsOf(drawn),
      env: { [drawn.environment]: { ...environmentSettings("models"), vars: { MODEL: "large" } } },
    }),
    args: chosen,
    fixed: { args: chosen },
  },
  "a variable inside a variable": {
    files: ({ file, environment }) => ({ [file]: `STAGE=${environment}\nCLOUDFLARE_ENV=\${STAGE}\n` }),
    fixed: { files: ({ file, environment }) => ({ [file]: `CLOUDFLARE_ENV=${environment}\n` }) },
  },
};

/** Refuses a wrong project, and accepts it after the hint. Returns code, message and hint. */
async function refusal({ fixed, ...wrong }: Case): Promise<string> {
  const project = await environmentProject();
  const environment = pick(ENVIRONMENTS);
  const drawn: Drawn = {
    ...{ environment, wrong: misspelt(environment), account: `acc${2 + choice.below(1e6)}` },
    ...{ jurisdiction: pick(["EU", "europe", "default", "Fedramp", "de"]), other: pick(["us", "fedramp"]) },
    ...{ file: pick([".env", ".env.local"]), config: pick(CONFIGS) },
  };
  const run = async ({ settings = settingsOf, files, args, variables }: Omit<Case, "fixed">) => {
    await project.write(drawn.config, JSON.stringify(settings(drawn)));
    for (const [file, text] of Object.entries(files?.(drawn) ?? {})) await project.write(file, text);
    return project.deploy([...(args?.(drawn) ?? []), "--dry-run"], variables?.(drawn));
  };
  const { code, stdout } = await run(wrong);
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
  expect(code).toBe(1);
  expect(faultOf({ status: "exit 1", ...error }, [""])).toBeUndefined();
  const plain = (text: string) => text.replaceAll(project.root, "<project>");
  const text = `${error.code}: ${plain(error.message)}\n  hint: ${plain(error.hint)}`;
  expect(await project.wrangler.changes()).toEqual([]);
  const after = await run(fixed);
  expect(after.code, after.stderr).toBe(0);
  return text;
}

it("refuses wrong environments, accounts, jurisdictions and files by name, and the hints work", {
  timeout: 300_000,
}, async () => {
  const table: string[] = [];
  for (const [name, wrong] of Object.entries(CASES)) table.push(`${name}\n  ${await refusal(wrong)}`);
  expect(table.join("\n")).toMatchInlineSnapshot(`
    "a misspelt --env
      setting_invalid: wrangler.json has no environment "canay" (--env). Did you mean canary?
      hint: It has canary: give --env canary, or --env "" for the top level. Or add the environment to wrangler.json.
    a misspelt CLOUDFLARE_ENV
      setting_invalid: wrangler.json has no environment "euroe" (CLOUDFLARE_ENV). Did you mean europe?
      hint: It has europe: give --env europe, or --env "" for the top level. Or add the environment to wrangler.json.
    a misspelt CLOUDFLARE_ENV in a file
      setting_invalid: wrangler.jsonc has no environment "euope" (CLOUDFLARE_ENV in .env). Did you mean europe?
      hint: It has europe: give --env europe, or --env "" for the top level. Or add the environment to wrangler.jsonc.
    an environment where there are none
      setting_invalid: wrangler.json has no environment "europe" (--env).
      hint: It has no environments: give --env "" for the top level. Or add the environment to wrangler.json.
    an account of somebody else in a file
      setting_invalid: The login has no access to the account "acc459451" (CLOUDFLARE_ACCOUNT_ID in .env.local).
      hint: Correct it: the login has acc1 (One). Or run \`npx wrangler login\` as somebody else. Nothing was changed.
    an account of somebody else in the configuration
      setting_invalid: The login has no access to the account "acc292721" (account_id).
      hint: Correct it: the login has acc1 (One). Or run \`npx wrangler login\` as somebody else. Nothing was changed.
    a jurisdiction that R2 does not have
      project_invalid: <project>/wrangler.jsonc has the jurisdiction "Fedramp" for MODELS.
      hint: Set jurisdiction to eu, fedramp, us, or leave it out for a bucket outside of jurisdictions.
    an endpoint of another jurisdiction
      setting_invalid: --endpoint is https://acc1.fedramp.r2.cloudflarestorage.com, but the Worker's bucket is at https://acc1.eu.r2.cloudflarestorage.com.
      hint: Leave --endpoint out, or correct account and jurisdiction in wrangler's configuration.
    an environment without bindings
      project_invalid: <project>/wrangler.json has no R2 binding named MODELS in the environment testing, which inherits no bindings.
      hint: Add { "binding": "MODELS", "bucket_name": "my-models" } to the list "r2_buckets" of "testing" in "env" in wrangler.json. The Worker reads its model from there.
    bindings in environments alone
      project_invalid: <project>/wrangler.json has no R2 binding named MODELS at its top level.
      hint: Choose an environment with --env: staging. Or add { "binding": "MODELS", "bucket_name": "my-models" } to the list "r2_buckets" in wrangler.json. The Worker reads its model from there.
    another model in an environment
      project_invalid: <project>/wrangler.json serves the model large in the environment testing, not tiny.
      hint: Set "MODEL": "tiny" under "vars" of "testing" in "env" in wrangler.json, and read it in the Worker: model: (env) => env.MODEL.split(",").
    a variable inside a variable
      setting_invalid: CLOUDFLARE_ENV in .env has a $, by which wrangler inserts a variable.
      hint: Write the value itself into .env, or export CLOUDFLARE_ENV."
  `);
});
