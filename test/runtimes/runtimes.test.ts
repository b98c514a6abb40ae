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
  run(program: string, folder: string): Promise<Digests>;
}

const runtimes: readonly Runtime[] = [
  { name: "Node", agent: "Node.js/", run: (_, folder) => digestsOfProcess([process.execPath], folder) },
  { name: "workerd", agent: "Cloudflare-Workers", run: (_, folder) => digestsOfWorkerd(folder) },
  {
    name: "Deno",
    agent: "Deno/",
    programs: ["deno"],
    run: (deno, folder) => digestsOfProcess([deno, "run", "--no-config", "--no-remote", "--allow-read"], folder),
  },
  { name: "Bun", agent: "Bun/", programs: ["bun"], run: (bun, folder) => digestsOfProcess([bun, "run"], folder) },
  {
    name: "Chromium",
    agent: "Chrome/",
    programs: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    run: digestsOfChromium,
  },
];

describe("the engine", () => {
  let folder: string;
  let reference: Digests;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bert-edge-runtimes-"));
    await writeCases(folder);
    const read = async (file: string) => new Uint8Array(await readFile(join(folder, file)));
    reference = await digests(await compiled(read), read);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("computes the same with relaxed SIMD and without, and something else for every model and head", () => {
    const plain = Object.keys(reference.results).filter((name) => name.includes(" simd "));
    expect(plain).toHaveLength(16);
    for (const name of plain) {
      expect(reference.results[name.replace(" simd ", " relaxed ")]).toBe(reference.results[name]);
    }
    expect(new Set(Object.values(reference.results)).size).toBe(plain.length);
  });

  for (const { name, agent, programs, run } of runtimes) {
    const program = programs ? executable(...programs) : "";
    const property = `computes in ${name} what it does here, byte by byte`;
    if (program === undefined) {
      const reason = `no ${programs?.join(" or ")} is installed`;
      console.warn(`Skipped: ${property} (${reason})`);
      it.skip(`${property} (skipped: ${reason})`);
    } else {
      it(property, async () => {
        const found = await run(program, folder);
        expect(found).toEqual({ ...reference, agent: expect.stringContaining(agent) });
      });
    }
  }
});
