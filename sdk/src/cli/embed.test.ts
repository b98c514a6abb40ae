import { beforeAll, describe, expect, it } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { cosine } from "../runtime/tasks/sentence-vector.ts";

const lines = ["to be", " or ", "not \u{1f389}"];
const stdin = `${lines.join("\n")}\n`;
const vectors = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => Float32Array.from(JSON.parse(line) as number[]));

describe("embed", () => {
  let artifact: string;
  beforeAll(async () => {
    artifact = await preparedTiny();
  });

  it("prints one JSON array for every line of stdin, or one JSON document", async () => {
    const { code, stdout } = await runCommandLine(["embed", artifact], { stdin });
    expect(code).toBe(0);
    expect(vectors(stdout).map(({ length }) => length)).toEqual(lines.map(() => 16));
    for (const vector of vectors(stdout)) expect(Math.abs(Math.hypot(...vector) - 1)).toBeLessThan(1e-6);
    const { stdout: json } = await runCommandLine(["embed", artifact, "--json"], { stdin });
    expect(JSON.parse(json)).toEqual({
      model: "tiny",
      version: expect.stringMatching(/^[0-9a-f]{12}$/),
      vectors: stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    });
  });

  it("gives a line the same vector alone, with or without a newline at its end", async () => {
    const all = await runCommandLine(["embed", artifact], { stdin });
    const alone = await runCommandLine(["embed", artifact], { stdin: lines[2] as string });
    expect(all.stdout.trimEnd().split("\n")[2]).toBe(alone.stdout.trimEnd());
    const [first, , third] = vectors(all.stdout) as [Float32Array, Float32Array, Float32Array];
    expect(cosine(first, third)).toBeLessThan(0.999);
  });

  it("says which lines it has cut", async () => {
    const long = "to be ".repeat(2_000);
    const { code, stderr } = await runCommandLine(["embed", artifact], { stdin: `to be\n${long}` });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Cut to \d+ of at least \d+ tokens: to be .*…\n$/)]);
  });

  it("names the engine of a target that --engine does not fit", async () => {
    const { code, stderr } = await runCommandLine(["embed", artifact, "--engine", "ort-web"], { stdin });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/is for the engine wasm.*ort-web/s) });
  });

  it.each(["to be\n\nor not\n", "to be\n \t\nor not\n"])(
    "names an empty line in place of embedding it: %j",
    async (stdin) => {
      const { code, stdout, stderr } = await runCommandLine(["embed", artifact], { stdin });
      expect({ code, vectors: vectors(stdout).length }).toEqual({ code: 1, vectors: 1 });
      expect(stderr).toContain("Error input_empty: Line 2 of the input is empty");
    },
  );

  it("prints nothing for empty input", async () => {
    expect(await runCommandLine(["embed", artifact])).toMatchObject({ code: 0, stdout: "" });
  });
});
