import { describe, expect, it } from "vitest";
import type { Artifact } from "../artifact/artifact.ts";
import { modelFilesOf } from "./model-files.ts";

describe("modelFilesOf", () => {
  /** Page files of 4, 3 and 5 bytes: 0 to 11. No read ends before `answer` is called. */
  function inThreeFiles() {
    const files = { a: [0, 1, 2, 3], b: [4, 5, 6], c: [7, 8, 9, 10, 11] };
    const answered = Promise.withResolvers<void>();
    const reads: string[] = [];
    const sizes = Object.fromEntries(Object.entries(files).map(([name, { length }]) => [name, { size: length }]));
    const artifact = {
      manifest: { name: "paged", files: sizes, targets: { edge: { engine: "wasm", pages: Object.keys(files) } } },
      async readPart(file: keyof typeof files, begin: number, end: number) {
        reads.push(`${file} ${begin}-${end}`);
        await answered.promise;
        return Uint8Array.from(files[file].slice(begin, end));
      },
    } as unknown as Artifact;
    return { source: modelFilesOf(artifact, "wasm"), reads, answer: answered.resolve };
  }

  it("reads pages that are in several files at the same time", async () => {
    const { source, reads, answer } = inThreeFiles();
    expect(source.pagesSize("edge")).toBe(12);
    const found = source.readPages("edge", 2, 9);
    await Promise.resolve();
    expect(reads).toEqual(["a 2-4", "b 0-3", "c 0-2"]);
    answer();
    expect(await found).toEqual(Uint8Array.of(2, 3, 4, 5, 6, 7, 8));
  });

  it("reads no file that has no byte of the pages", async () => {
    const { source, reads, answer } = inThreeFiles();
    answer();
    expect(await source.readPages("edge", 4, 7)).toEqual(Uint8Array.of(4, 5, 6));
    expect(reads).toEqual(["b 0-3"]);
  });

  it("refuses pages that the manifest does not list", async () => {
    const { source, answer } = inThreeFiles();
    answer();
    await expect(source.readPages("edge", 10, 13)).rejects.toMatchObject({ code: "model_invalid" });
  });
});
