import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Task } from "#sdk/artifact/manifest.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { taskEngine, taskStore } from "../fixtures/task-model.ts";
import { fakeEngine, TINY, tinyStore } from "../fixtures/tiny-model.ts";
import { codeOf, KEY, MAX_CPU_MS, post } from "./attacked-edge.ts";

// The edge logs each request.
beforeEach(() => void vi.spyOn(console, "log").mockReturnValue(undefined));
afterEach(() => void vi.restoreAllMocks());

describe("one request with the work of thousands", () => {
  const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
  const nli: Task = {
    task: "classify",
    input: "pair",
    labels: ["contradiction", "entailment", "neutral"],
  };

  const answers: Task = { task: "answer" };
  const long = { question: "w", context: "a ".repeat(60_000) };

  const masked: Task = { task: "fill-mask", mask: { id: 103, token: "[MASK]" } };

  it.each<[string, Task, string, object]>([
    ["many characters to tokenize", embed, "/tokenize", { inputs: Array(101).fill("a ".repeat(500)) }],
    ["many ids to decode", embed, "/decode", { ids: Array(100_001).fill(1) }],
    ["the whole vocabulary for a mask", masked, "/v1/fill-mask", { inputs: "[MASK]", top_k: 30_522 }],
    ["the whole vocabulary for a mask", masked, "/", { inputs: "[MASK]", parameters: { top_k: 30_522 } }],
    ["many targets", masked, "/v1/fill-mask", { inputs: "[MASK]", targets: Array(1_001).fill("a") }],
    ["a long target", masked, "/v1/fill-mask", { inputs: "[MASK]", targets: ["a".repeat(201)] }],
    ["a long target", masked, "/", { inputs: "[MASK]", parameters: { targets: "a".repeat(201) } }],
    [
      "many masks with many results",
      masked,
      "/v1/fill-mask",
      { inputs: Array(100).fill("[MASK]".repeat(14)), top_k: 100 },
    ],
    ["parts that overlap by all but one token", answers, "/v1/answer", { ...long, doc_stride: 10 }],
    ["several contexts of such parts", answers, "/v1/answer", { inputs: [long, long], doc_stride: 10 }],
    ["such parts", answers, "/", { inputs: long, parameters: { doc_stride: 10 } }],
    ["many answers", answers, "/v1/answer", { ...long, top_k: 101 }],
    ["many answers", answers, "/", { inputs: long, parameters: { top_k: 101 } }],
    ["long answers", answers, "/v1/answer", { ...long, max_answer_tokens: 101 }],
    ["a long label", embed, "/v1/zero-shot", { inputs: "a", candidate_labels: ["b".repeat(1_001)] }],
    [
      "a template with many places",
      embed,
      "/v1/zero-shot",
      { inputs: "a", candidate_labels: ["b"], hypothesis_template: "{} {}" },
    ],
    [
      "a long template",
      embed,
      "/v1/zero-shot",
      { inputs: "a", candidate_labels: ["b"], hypothesis_template: `{}${"b".repeat(1_000)}` },
    ],
    ["many labels", nli, "/", { inputs: Array(100).fill("a"), parameters: { candidate_labels: "b,".repeat(40_000) } }],
    ["no label", nli, "/", { inputs: "a", parameters: { candidate_labels: " , " } }],
    ["an empty label", nli, "/", { inputs: "a", parameters: { candidate_labels: ["b", " "] } }],
    ["a long label", nli, "/", { inputs: "a", parameters: { candidate_labels: "b".repeat(1_001) } }],
    [
      "a template with many places",
      nli,
      "/",
      { inputs: "a", parameters: { candidate_labels: ["b"], hypothesis_template: "{}{}" } },
    ],
  ])("is refused: %s", async (_, task, path, body) => {
    const refusing = createEdgeApp({
      models: await taskStore(task, 16),
      model: TINY.name,
      engine: taskEngine(task),
      keys: false,
    });
    const start = process.threadCpuUsage();
    const response = await refusing.request(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(process.threadCpuUsage(start).user / 1000).toBeLessThan(MAX_CPU_MS);
    expect([400, 422], await response.text()).toContain(response.status);
  });
});

describe("outputs that are larger than an isolate", () => {
  const masked: Task = { task: "fill-mask", mask: { id: 103, token: "[MASK]" } };

  it.each<[string, Task, string, string]>([
    ["logits of masks", masked, "/v1/fill-mask", "[MASK]"],
    ["weights of a vocabulary", { task: "sparse" }, "/v1/sparse", "a"],
  ])("are refused before they are computed: %s", async (_, task, path, text) => {
    const engine = taskEngine(task);
    const app = createEdgeApp({
      models: await taskStore(task, 16),
      model: TINY.name,
      engine,
      keys: false,
      cpuLimitMs: Number.POSITIVE_INFINITY,
      limits: { maxWaitMs: Number.POSITIVE_INFINITY },
    });
    const ask = (count: number) =>
      app.request(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ inputs: Array(count).fill(text) }),
      });
    const refused = await ask(138);
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: "too_many_inputs" } }]);
    expect(engine.sessions.map(({ runs }) => runs)).toEqual([0]);
    expect((await ask(137)).status).toBe(200);
  });
});

describe("prototype pollution", () => {
  it.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])(
    "through the name %s has no effect",
    async (name) => {
      const long = "word ".repeat(100);
      const bodies = [
        `{"inputs":["${long}"],"${name}":{"truncate":true,"polluted":true}}`,
        `{"inputs":["${long}"],"${name}":{"prototype":{"truncate":true,"polluted":true}}}`,
        `[{"${name}":{"polluted":true}}]`,
      ];
      for (const body of bodies) {
        const response = await post(body);
        // Nothing makes the text shorter.
        expect(["input_too_long", "request_invalid"]).toContain(await codeOf(response));
      }
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );

  it.each(["__proto__", "constructor", "toString"])("through the model's name %s finds no model", async (name) => {
    const body = JSON.stringify({ input: "a", model: name });
    expect(await codeOf(await post(body, {}, "/v1/embeddings"))).toBe("model_unknown");
    expect(await codeOf(await post('{"inputs":["a"]}', {}, `/models/${name}/v1/embed`))).toBe("model_unknown");
  });
});

describe("a path as the version of a model", () => {
  it.each(["../../../etc/x", "..%2f..%2fx", "current", "\0"])("opens no object: %j", async (version) => {
    const store = await tinyStore();
    const opened: string[] = [];
    const watched = {
      ...store,
      open(key: string, signal: AbortSignal) {
        opened.push(key);
        return store.open(key, signal);
      },
    };
    const served = createEdgeApp({ models: watched, model: TINY.name, engine: fakeEngine(), keys: false });
    const response = await served.request("/v1/embed", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: `${TINY.name}@${version}`, inputs: "a" }),
    });
    expect(await codeOf(response)).toBe("model_unknown");
    expect(opened).toEqual([]);
  });
});

describe("header injection", () => {
  it.each(["a%0d%0aset-cookie:%20x=1", "a%0aset-cookie:x", "%e2%80%a8x"])(
    "through the path %s adds no header",
    async (name) => {
      const response = await post('{"inputs":["a"]}', {}, `/models/${name}/v1/embed`);
      expect(response.status).toBe(404);
      expect(response.headers.get("set-cookie")).toBeNull();
    },
  );

  it("through x-request-id and traceparent is not repeated", async () => {
    for (const value of ["a b", "a;b=c", "<script>", "a".repeat(200), "é"]) {
      const response = await post('{"inputs":["a"]}', { "x-request-id": value, traceparent: value });
      expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe("log injection", () => {
  it("adds no line: each request is one line of JSON, without texts and keys", async () => {
    const lines: string[] = [];
    for (const method of ["log", "error", "warn", "info"] as const) {
      vi.spyOn(console, method).mockImplementation(
        (...parts: unknown[]) => void lines.push(parts.map(String).join(" ")),
      );
    }
    const forged = '{"level":"forged"}';
    const secret = "the secret text";
    const paths = [
      "/v1/embed",
      `/models/x%0a${encodeURIComponent(forged)}/v1/embed`,
      `/v1/%0a${encodeURIComponent(forged)}`,
    ];
    for (const path of paths) {
      await post(
        JSON.stringify({ inputs: [`${secret}\n${forged}`], model: `x\n${forged}`, prompt_name: `\n${forged}` }),
        {
          "user-agent": `x ${forged}`,
          "x-bert-edge-tier": forged,
          "x-request-id": forged,
        },
        path,
      );
    }
    await post(JSON.stringify({ inputs: [`${secret}\n${forged}`] }));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line).not.toMatch(/\n/);
      expect(Object(JSON.parse(line))["level"]).not.toBe("forged");
      expect(line).not.toContain(secret);
      expect(line).not.toContain(KEY);
    }
  });
});
