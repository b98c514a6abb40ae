import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Figure } from "../../bench/figures.ts";
import manifest from "../../package.json" with { type: "json" };
import { preparedDefault } from "../fixtures/prepared.ts";
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

/** Matches reports of wrong vectors: a figure, a gate of `prepare`, or a service that fails. */
const WRONG_VECTORS = /not plausible|accuracy_gate|vector_invalid|answered 50\d/;

// Two at a time are what two cores carry: figures of more would be noise. The longest command has 15 parts, each with servers of its own.
vi.setConfig({ maxConcurrency: 2, testTimeout: 300_000 });

it.concurrent.each(measuring)("$script $args measures every row", async ({ script, args, rows = [] }) => {
  const { stdout, stderr, code } = await run(script, [...args, "--json"]);
  expect(code, stderr).toBe(0);
  const { figures } = JSON.parse(stdout) as { figures: Figure[] };
  expect(figures.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
  expect(rows.filter((row) => !figures.some((figure) => figure.row.startsWith(row)))).toEqual([]);
});

it.concurrent.each(shortForms.filter(({ prints }) => prints))(
  "$script $args",
  async ({ script, args, prints, takesArtifact }) => {
    const { stdout, stderr, code } = await run(script, [...args, ...(takesArtifact ? [await preparedDefault()] : [])]);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toMatch(prints as RegExp);
  },
);

describe.concurrent("with an engine that computes wrong vectors", () => {
  // Stages of these runs must not be kept for others.
  let cache: string;
  beforeAll(async () => {
    cache = await mkdtemp(join(tmpdir(), "bert-edge-broken-"));
  });
  afterAll(() => rm(cache, { recursive: true, force: true }));

  it.each(measuring.filter(({ broken }) => broken))("$script $args fails", async ({ script, args, broken = [] }) => {
    const env = { NODE_OPTIONS: `--import ${BROKEN_ENGINE}`, XDG_CACHE_HOME: cache };
    const { stderr, code } = await run(script, [...args, ...broken], env);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(WRONG_VECTORS);
  });
});

/** Every program: an npm script, and the name of its benchmark. */
const commands = [
  ...new Set([
    ...shortForms.map(({ script, args }) => (script === "bench" ? `bench ${args[0]}` : script)),
    ...Object.keys(exceptions),
  ]),
].map((program) => {
  const [script = "", ...args] = program.split(" ");
  return { script, args };
});

// One function reads the command line of all programs, and benchmarks call it in one place.
it.concurrent.each([
  ["release:check", "--help"],
  ["bench", "tokenizer", "--help"],
  ["bench", "tokenizer", "-h"],
])("%s %s %s prints its usage", async (script, ...args) => {
  const { stdout, stderr, code } = await run(script, args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^usage: npm run /);
});

// Only that function gives this answer, so that `--help` prints the usage too. Programs load for up to a second: each starts once.
it.concurrent.each(commands)(
  "$script $args refuses an unknown option, and prints nothing but its usage",
  async ({ script, args }) => {
    const { stdout, stderr, code } = await run(script, [...args, "--no-such-option"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^Unknown option '--no-such-option'[^\n]*\n\nusage: npm run /);
    expect(stderr).not.toMatch(/^ {4}at /m);
  },
);
