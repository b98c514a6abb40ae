import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import root from "../../package.json" with { type: "json" };

const FOLDER = ".github/workflows";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly "timeout-minutes"?: number;
  readonly strategy?: { readonly matrix: { readonly command: readonly string[] } };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

describe.each(readdirSync(FOLDER))("%s", (file) => {
  const { permissions, jobs } = parse(readFileSync(join(FOLDER, file), "utf8")) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it("may only read, and ends in time", () => {
    expect(permissions).toEqual({ contents: "read" });
    for (const job of Object.values(jobs)) expect(job["timeout-minutes"]).toBeLessThanOrEqual(90);
  });

  it("uses actions with a version", () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^actions\/[\w-]+@(v\d+|[0-9a-f]{40})$/);
  });

  it("calls npm alone, with scripts that exist", () => {
    const commands = Object.values(jobs).flatMap(({ strategy, steps }) =>
      steps.flatMap(({ run = "" }) =>
        (strategy?.matrix.command ?? [""]).map((name) => run.replace(/\$\{\{.*\}\}/, name)),
      ),
    );
    for (const command of commands.filter((each) => each !== "")) {
      expect(command).toMatch(/^npm (ci|test|audit|pack|publish|run)\b/);
      const [, script] = /^npm run (\S+)$/.exec(command) ?? [];
      if (script !== undefined) expect(Object.keys(root.scripts)).toContain(script);
    }
  });
});
