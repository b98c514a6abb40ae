import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeCases } from "./case-folder.ts";
import { inChromium } from "./chromium.ts";
import type { CrashOutcomes } from "./crash-outcomes.ts";
import { compiled, type Digests, digests } from "./digests.ts";
import { executable } from "./executable.ts";
import { inProcess } from "./processes.ts";
import { digestsOfWorkerd } from "./workerd.ts";

const ENGINE = "digests(await compiled(read), read)";
const POOL = `import("./pool/index.js").then(async ({ wasmPoolEngine }) =>
  digests(await compiled(read), read, (kernels) => wasmPoolEngine({ ...kernels, threads: 2 })))`;
const CRASH = `import("./crash/index.js").then(async ({ crashOutcomes }) =>
  crashOutcomes(await compiled(read), await read("bert")))`;

/** Pairs of the same model in different forms, which must not change its results. */
const forms = [
  { what: "a table in pages as with the whole table", form: "default-in-pages ", other: "default-4-bits-table " },
  { what: "weights expanded in each call as once", form: "default-4-bits-each-call ", other: "default-4-bits " },
];

interface Runtime {
  readonly name: string;
  /** Part of the runtime's user agent. */
  readonly agent: string;
  /** Possible names of the runtime's program. One of them must be installed. */
  readonly programs?: readonly string[];
  /**
   * Whether to test the pool of Web Workers. False for workerd, which has none, and for Node, whose pool has other
   * tests.
   */
  readonly hasWebWorkers: boolean;
  run(program: string, folder: string, expression: string): Promise<unknown>;
}

const runtimes: readonly Runtime[] = [
  {
    name: "Node",
    agent: "Node.js/",
    hasWebWorkers: false,
    run: (_, folder, expression) => inProcess([process.execPath], folder, expression),
  },
  {
    name: "workerd",
    agent: "Cloudflare-Workers",
    hasWebWorkers: false,
    run: (_, folder) => digestsOfWorkerd(folder),
  },
  {
    name: "Deno",
    agent: "Deno/",
    programs: ["deno"],
    hasWebWorkers: true,
    run: (deno, folder, expression) =>
      inProcess([deno, "run", "--no-config", "--no-remote", "--allow-read"], folder, expression),
  },
  {
    name: "Bun",
    agent: "Bun/",
    programs: ["bun"],
    hasWebWorkers: true,
    run: (bun, folder, expression) => inProcess([bun, "run"], folder, expression),
  },
  {
    name: "Chromium",
    agent: "Chrome/",
    programs: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    hasWebWorkers: true,
    run: inChromium,
  },
];

describe("every runtime computes the same bytes:", () => {
  let folder: string;
  let reference: Digests;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bert-edge-runtimes-"));
    await writeCases(folder);
    const read = async (file: string) => new Uint8Array(await readFile(join(folder, file)));
    reference = await digests(await compiled(read), read);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("the engine computes the same with and without relaxed SIMD, and different results for every model and head", () => {
    const plain = Object.keys(reference.results).filter((name) => name.includes(" simd "));
    expect(plain).toHaveLength(40);
    for (const name of plain) {
      expect(reference.results[name.replace(" simd ", " relaxed ")]).toBe(reference.results[name]);
    }
    const others = plain.filter((name) => !forms.some(({ form }) => name.startsWith(form)));
    expect(new Set(others.map((name) => reference.results[name])).size).toBe(others.length);
  });

  it.each(forms)("the engine computes the same with $what", ({ form, other }) => {
    const names = Object.keys(reference.results).filter((name) => name.startsWith(form));
    expect(names).toHaveLength(8);
    for (const name of names) expect(reference.results[name]).toBe(reference.results[name.replace(form, other)]);
  });

  for (const { name, agent, programs, hasWebWorkers, run } of runtimes) {
    const program = programs ? executable(...programs) : "";
    const itRuns = (property: string, test: (program: string) => Promise<void>) => {
      if (program !== undefined) return it(property, () => test(program));
      const reason = `${programs?.join(" or ")} is not installed`;
      console.info(`Skipped: ${property} (${reason})`);
      it.skip(`${property} (skipped: ${reason})`);
    };

    itRuns(`${name} computes the same bytes`, async (program) => {
      expect(await run(program, folder, ENGINE)).toEqual({ ...reference, agent: expect.stringContaining(agent) });
    });
    if (!hasWebWorkers) continue;

    itRuns(`a pool of two threads in ${name} computes the same bytes`, async (program) => {
      expect(await run(program, folder, POOL)).toEqual({ ...reference, agent: expect.stringContaining(agent) });
    });

    itRuns(`a pool in ${name} replaces workers that crash, and only their requests fail`, async (program) => {
      const { meanwhile, afterwards, bytes } = (await run(program, folder, CRASH)) as CrashOutcomes;
      expect(meanwhile).toEqual(["computed", "worker_failed", "computed", "worker_failed", "computed"]);
      expect(afterwards).toEqual(["computed", "computed"]);
      expect(bytes[1]).toBe(bytes[0]);
    });
  }
});
