import { expect, it } from "vitest";
import type { Task } from "#sdk/artifact/manifest.ts";
import { runCommandLine } from "../fixtures/run-command-line.ts";
import { servedPage } from "./served-page.ts";

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };

it("`bert-edge inspect <url>` says what a deployment serves", async () => {
  const url = await servedPage(embed);
  const env = { BERT_EDGE_API_KEY: "none" };
  const { code, stdout } = await runCommandLine(["inspect", `${url}/`], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/ model +tiny@[0-9a-f]{12}, int8\n +task +embed, 8 dimensions\n/);
  expect(stdout).toContain(`page          ${url}/\n`);
  expect(stdout).toContain("weights       not given to browsers");
  const json = await runCommandLine(["inspect", url, "--json"], { env });
  expect(JSON.parse(json.stdout)).toMatchObject({
    kind: "deployment",
    url,
    models: ["tiny"],
    page: true,
    artifacts: false,
  });
});

it("`bert-edge inspect <url>` says that a URL is not complete", async () => {
  const outcome = await runCommandLine(["inspect", "https://"], { env: { BERT_EDGE_API_KEY: "" } });
  expect([outcome.code, outcome.stdout]).toEqual([1, ""]);
  expect(outcome.stderr).toContain("Error service_failed: ");
  expect(outcome.stderr).toContain("this is not a complete URL");
});

it("`bert-edge inspect <url>` refuses what is not a deployment", async () => {
  const env = { BERT_EDGE_API_KEY: "none" };
  const outcome = await runCommandLine(["inspect", "http://127.0.0.1:1"], { env });
  expect([outcome.code, outcome.stdout]).toEqual([1, ""]);
  expect(outcome.stderr).toContain(
    "Error service_failed: http://127.0.0.1:1 is not a bert-edge deployment: it does not answer.",
  );
});
