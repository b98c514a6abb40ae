import { describe, expect, it } from "vitest";
import { serve } from "#test/fixtures/serve.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { introduction } from "./introduction.ts";
import type { Stack } from "./stack.ts";

interface Answers {
  readonly answer: string;
  readonly type?: string;
  readonly page?: boolean;
  readonly info?: object;
}

const INFO = {
  ...{ model_id: "tiny", model_sha: "012345", task: "embed", max_input_length: 256, max_client_batch_size: 64 },
  ...{ max_body_bytes: 1_000_000, max_wait_ms: 1_000, tier: "edge", provider: "wasm" },
};

/** Starts a Worker with one answer, and introduces it. Returns its requests, too. */
async function introduced({ answer, type = "application/json", page = false, info = {} }: Answers, changes = {}) {
  const requests: unknown[] = [];
  const tiers: unknown[] = [];
  const url = await serve(async (request, response) => {
    const described = { "/info": { ...INFO, ...info }, "/v1/models": { data: [{ id: "tiny" }] } }[request.url ?? ""];
    if (described) return void response.end(JSON.stringify(described));
    if (request.method === "GET") {
      response.writeHead(page ? 200 : 404, { "content-type": page ? "text/html" : "application/json" }).end();
      return;
    }
    let body = "";
    for await (const text of request) body += text;
    tiers.push(request.headers["x-bert-edge-tier"]);
    requests.push([request.url, request.headers.authorization, body]);
    response.writeHead(200, { "content-type": type }).end(answer);
  });
  const published = [{ name: "tiny", version: "012345" }];
  const stack = { edge: { url, key: "a&b" }, keyIsNew: false, published, ...changes };
  const manifest = { task: "embed", targets: { edge: {}, "regional-cpu": {} } } as Manifest;
  const text = await introduction(stack as unknown as Stack, [manifest]);
  return { url, text, requests, tiers };
}

describe("introduction", () => {
  it("shows URL, key, the request that it sent, and the beginning of the vector", async () => {
    const answer = JSON.stringify({ embeddings: [[0.5, -0.25, 1, 2, 3]] });
    const { url, text, requests } = await introduced({ answer });
    const body = '{"inputs":"to be or not to be"}';
    expect(requests[0]).toEqual(["/v1/embed", "Bearer a&b", body]);
    expect(text.split("\n")).toEqual([
      `tiny@012345 is served at ${url}`,
      "",
      "  API key  a&b",
      "",
      "Try it:",
      "",
      `  curl ${url}/v1/embed \\`,
      "    -H 'authorization: Bearer a&b' \\",
      "    -H 'content-type: application/json' \\",
      `    -d '${body}'`,
      "",
      "The answer: a vector of 5 numbers: [0.5000, -0.2500, 1.0000, 2.0000, …]",
    ]);
  });

  it("warms both tiers, so that the developer's first request is not slower than later ones", async () => {
    const alone = await introduced({ answer: "{}" });
    expect(alone.tiers).toEqual([undefined, ...Array(8).fill("edge")]);
    const both = await introduced({ answer: "{}" }, { region: { url: "http://region", key: "key" } });
    expect(both.tiers).toEqual([undefined, ...Array(8).fill("edge"), ...Array(8).fill("region")]);
  });

  it("says that a key is new, and opens the page with it", async () => {
    const { url, text } = await introduced({ answer: "{}", page: true }, { keyIsNew: true });
    expect(text).toMatch(
      /^\.dev\.vars has no plain key in API_KEYS, so this key is new\. To keep it, add:\n {2}API_KEYS=a&b$/m,
    );
    expect(text).toContain(`\n  page     ${url}/#key=a%26b\n`);
  });

  it("says what a request can compute, if not every text fits", async () => {
    const info = { cpu_limit_ms: 10, cpu_limit_tokens: 57 };
    expect((await introduced({ answer: "{}", info })).text).toContain(
      "\nA request has 10 ms of CPU time (cpuLimitMs): one text of up to 57 tokens, or several shorter ones.",
    );
    expect((await introduced({ answer: "{}", info: { ...info, cpu_limit_tokens: 256 } })).text).not.toContain("CPU");
  });

  it.each([200, 201])("shortens other answers after 200 characters: %d", async (length) => {
    const answer = `{ "a": "${"x".repeat(length - 11)}" }`;
    const shown = length > 200 ? `${answer.slice(0, 200)}…` : answer;
    expect((await introduced({ answer })).text.endsWith(`\nThe answer: ${shown}`)).toBe(true);
  });

  it("says that a Worker answers no JSON", async () => {
    await expect(introduced({ answer: "hello", type: "text/plain" })).rejects.toMatchObject({
      code: "service_failed",
      message: "The Worker runs, but POST /v1/embed answers no JSON.",
    });
  });
});
