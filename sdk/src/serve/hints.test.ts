import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import { wrongCommands } from "../../../test/docs/commands.ts";
import type { Json } from "../../../test/fuzz/damage-json.ts";
import { followed, type HttpRequest, initOf, textsOf } from "../../../test/fuzz/wrong/http-request.ts";
import type { Task } from "../artifact/manifest.ts";
import { dialects, shownRoutes } from "./dialects/index.ts";
import { createEdgeApp } from "./edge-app.ts";

errorLog();

const tasks = {
  embed: { task: "embed", pooling: "mean", normalize: true, dimensions: 8 },
  classify: { task: "classify", input: "text", labels: ["no", "yes"] },
  pairs: { task: "classify", input: "pair", labels: ["no", "yes"] },
  crossEncoder: { task: "classify", input: "pair", labels: ["LABEL_0"] },
  sparse: { task: "sparse" },
  tag: { task: "tag", labels: ["O", "B-PER", "I-PER"] },
  answer: { task: "answer" },
  "fill-mask": { task: "fill-mask", mask: { id: 103, token: "[MASK]" } },
  "token-vectors": { task: "token-vectors", dimensions: 4 },
} satisfies Record<string, Task>;

const MAX_TOKENS = 24;

async function setUp(task: Task) {
  const options = { models: await taskStore(task, MAX_TOKENS), keys: false, log: false } as const;
  const app = createEdgeApp({ ...options, model: TINY.name, cpuLimitMs: 1e9, engine: taskEngine(task) });
  return async (request: HttpRequest) => {
    const response = await app.request(request.path, initOf(request));
    const { message, hint = "" } = textsOf(await response.json());
    return { ok: response.ok, text: `${message} ${hint}`.trim() };
  };
}

/** Errors whose cure is another text, which no program can write. */
const OF_TEXTS = /is empty|has no inputs|needs at least one character|no mask token|Write \[MASK\]/;

describe("a model with another task", () => {
  const cases = shownRoutes(dialects).flatMap(({ path, runsModel }) =>
    runsModel ? Object.entries(tasks).map(([name, task]) => [path, name, task] as const) : [],
  );

  it.each(cases)(
    "is, on POST %s with %s, used by a request that the hint describes, or prepared by its command",
    async (path, _, task) => {
      const post = await setUp(task);
      const json = shownRoutes(dialects).find((route) => route.path === path)?.example as Json;
      const request = { method: "POST", path, headers: { "content-type": "application/json" }, json };
      const { ok, text } = await post(request);
      if (ok || OF_TEXTS.test(text)) return;
      expect(wrongCommands({ path, text }, {})).toEqual([]);
      if (/`bert-edge prepare/.test(text)) return;
      if (/send pairs of texts to \/v1\/classify/i.test(text)) return;
      const next = followed(request, text);
      if (!next) throw new Error(text);
      const second = await post(next);
      const again = second.ok ? undefined : followed(next, second.text);
      const last = again ? await post(again) : second;
      expect({ text, second, last }).toMatchObject({ last: { ok: true } });
    },
  );
});
