import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { Figure } from "../../bench/figures.ts";
import manifest from "../../package.json" with { type: "json" };
import { preparedDefault } from "../fixtures/prepared.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { exceptions, shortForms } from "./short-forms.ts";

const repository = join(import.meta.dirname, "../..");
const BROKEN_ENGINE = join(import.meta.dirname, "broken-engine.ts");

/** Runs the command of an npm script after its build, like a user who has built. */
async function run(script: string, args: readonly string[], env: Record<string, string> = {}) {
  const command = manifest.scripts[script as keyof typeof manifest.scripts].split(" && ").at(-1) ?? "";
  const [, ...own] = command.split(" ");
  const child = spawn(process.execPath, [...own, ...args], { cwd: repository, env: { ...process.env, ...env } });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { stdout, stderr, code };
}

const measuring = shortForms.filter(({ rows }) => rows);

it.each(measuring)("$script $args measures every row", async ({ script, args, rows = [] }) => {
  const { stdout, stderr, code } = await run(script, [...args, "--json"]);
  expect(code, stderr).toBe(0);
  const { figures } = JSON.parse(stdout) as { figures: Figure[] };
  expect(figures.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
  expect(rows.filter((row) => !figures.some((figure) => figure.row.startsWith(row)))).toEqual([]);
});

it.each(shortForms.filter(({ prints }) => prints))("$script $args", async ({ script, args, prints, takesArtifact }) => {
  const { stdout, stderr, code } = await run(script, [...args, ...(takesArtifact ? [await preparedDefault()] : [])]);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(prints as RegExp);
});

describe("with an engine that computes wrong vectors", () => {
  it.each(measuring.filter(({ broken }) => broken))("$script $args fails", async ({ script, args, broken = [] }) => {
    const env = { NODE_OPTIONS: `--import ${BROKEN_ENGINE}`, XDG_CACHE_HOME: await temporaryFolder() };
    const { stderr, code } = await run(script, [...args, ...broken], env);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(/not plausible|parity/);
  });
});

/** Every command, with the argument that names what it runs. */
const commands = [
  ...shortForms.map(({ script, args }) => [script, ...args.slice(0, 1).filter((arg) => !arg.startsWith("-"))]),
  ...Object.keys(exceptions).map((command) => command.split(" ")),
].map(([script = "", ...args]) => ({ script, args }));

describe.each(commands)("$script $args", ({ script, args }) => {
  it("prints its usage", async () => {
    const { stdout, stderr, code } = await run(script, [...args, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^usage: npm run /);
  });

  it("refuses an unknown option", async () => {
    const { stdout, stderr, code } = await run(script, [...args, "--no-such-option"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/no-such-option[\s\S]*\n\nusage: npm run /);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});
