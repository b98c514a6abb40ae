import { expect, it } from "vitest";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";

it.each(["INPUT_TOO_LONG", "input_too_long:", "Error input_too_long: A text", "http_503"])("knows %s", async (code) => {
  expect(await runCommandLine(["explain", code])).toMatchObject({ code: 0, stderr: "" });
});

it("says when an error occurs, its HTTP status, and how to fix it", async () => {
  const { code, stdout, stderr } = await runCommandLine(["explain", "input_too_long"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^input_too_long, HTTP 400\nA text has more tokens .+\nFix: Send a shorter text/);
  const reason = await runCommandLine(["explain", "edge-cpu-limit"]);
  expect(reason.stdout).toMatch(/^edge-cpu-limit\nThe region answers, because .*cpuLimitMs\.\nFix: .*raise cpuLimitMs/);
  const figure = await runCommandLine(["explain", "hedge"]);
  expect(figure).toMatchObject({ code: 0, stdout: expect.stringMatching(/^hedge\nThe edge was uncertain, .+\n$/) });
});

it("prints one JSON document with --json", async () => {
  const json = async (code: string) => JSON.parse((await runCommandLine(["explain", code, "--json"])).stdout);
  const [when, fix] = [expect.any(String), expect.any(String)];
  expect(await json("login_missing")).toEqual({ code: "login_missing", when, fix });
  expect(await json("input_too_long")).toEqual({ code: "input_too_long", when, fix, status: 400 });
  expect(await json("hedge")).toEqual({ code: "hedge", when });
});

it.each(["x-bert-edge-decision", "6a33a41b-5f0e-4c57-8a5d-5a3a41b0c0de"])(
  "asks for the figures behind %s",
  async (name) => {
    const { code, stderr } = await runCommandLine(["explain", name]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("give the header x-bert-edge-decision of its response"),
    ]);
  },
);
