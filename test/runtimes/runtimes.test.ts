import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeCases } from "./case-folder.ts";
import { digestsOfChromium } from "./chromium.ts";
import { compiled, type Digests, digests } from "./digests.ts";
import { executable } from "./executable.ts";
import { digestsOfProcess } from "./processes.ts";
import { digestsOfWorkerd } from "./workerd.ts";

interface Runtime {
  readonly name: string;
  /** In what it calls itself. */
  readonly agent: string;
  /** Any of these has to be installed. */
  readonly programs?: readonly string[];
  /** Pools where there are Web Workers; that of Node has tests of its own. */
  readonly engines: readonly EngineName[];
  run(program: string, folder: string, engine: string): Promise<Digests>;
}

/** In scripts: what makes an engine of kernels. */
const engines = {
  "the engine": "undefined",
  "a pool of two threads":
    'await import("./pool/index.js").then(({ wasmPoolEngine }) => (kernels) => wasmPoolEngine({ ...kernels, threads: 2 }))',
};
type EngineName = keyof typeof engines;

const everything = Object.keys(engines) as EngineName[];
const runtimes: readonly Runtime[] = [
  {
    name: "Node",
    agent: "Node.js/",
    engines: ["the engine"],
    run: (_, folder, engine) => digestsOfProcess([process.execPath], folder, engine),
  },
  {
    name: "workerd",
    agent: "Cloudflare-Workers",
    engines: ["the engine"],
    run: (_, folder) => digestsOfWorkerd(folder),
  },
  {
    name: "Deno",
    agent: "Deno/",
    programs: ["deno"],
    engines: everything,
    run: (deno, folder, engine) =>
      digestsOfProcess([deno, "run", "--no-config", "--no-remote", "--allow-read"], folder, engine),
  },
  {
    name: "Bun",
    agent: "Bun/",
    programs: ["bun"],
    engines: everything,
    run: (bun, folder, engine) => digestsOfProcess([bun, "run"], folder, engine),
  },
  {
    name: "Chromium",
    agent: "Chrome/",
    programs: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    engines: everything,
    run: digestsOfChromium,
  },
];

describe("byte by byte,", () => {
  let folder: string;
  let reference: Digests;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bert-edge-runtimes-"));
    await writeCases(folder);
    const read = async (file: string) => new Uint8Array(await readFile(join(folder, file)));
    reference = await digests(await compiled(read), read);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("the engine computes the same with relaxed SIMD and without, and something else for every model and head", () => {
    const plain = Object.keys(reference.results).filter((name) => name.includes(" simd "));
    expect(plain).toHaveLength(16);
    for (const name of plain) {
      expect(reference.results[name.replace(" simd ", " relaxed ")]).toBe(reference.results[name]);
    }
    expect(new Set(Object.values(reference.results)).size).toBe(plain.length);
  });

  for (const { name, agent, programs, engines: wanted, run } of runtimes) {
    const program = programs ? executable(...programs) : "";
    const properties = wanted.map(
      (engine) => [engine, `${engine} computes in ${name} what the engine does here`] as const,
    );
    for (const [engine, property] of properties) {
      if (program === undefined) {
        const reason = `no ${programs?.join(" or ")} is installed`;
        console.warn(`Skipped: ${property} (${reason})`);
        it.skip(`${property} (skipped: ${reason})`);
      } else {
        it(property, async () => {
          const found = await run(program, folder, engines[engine]);
          expect(found).toEqual({ ...reference, agent: expect.stringContaining(agent) });
        });
      }
    }
  }
});
