import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import { wrongCommands } from "../../../test/docs/commands.ts";
import type { Task } from "../artifact/manifest.ts";
import { dialects, shownRoutes } from "./dialects/index.ts";
import { createEdgeApp } from "./edge-app.ts";
import { jsonSchema } from "./openapi/document.ts";

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

/** Wrong bodies of a route. */
const BODIES = 30;
const MAX_TOKENS = 24;
const LONG = "word ".repeat(40);

type Body = Readonly<Record<string, unknown>>;

async function setUp(task: Task) {
  const options = { models: await taskStore(task, MAX_TOKENS), keys: false, log: false } as const;
  const app = createEdgeApp({ ...options, model: TINY.name, cpuLimitMs: 1e9, engine: taskEngine(task) });
  return async (path: string, body: unknown) => {
    const headers = { "content-type": "application/json" };
    const response = await app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
    return { ok: response.ok, text: textOf(await response.json()) };
  };
}

/** Returns message and hint of an error in any dialect. */
function textOf(json: unknown): string {
  const { error, message } = Object(json) as { error?: unknown; message?: string };
  const { message: inner, hint } = Object(error) as { message?: string; hint?: string };
  return inner ? (hint ? `${inner}: ${hint}` : inner) : typeof error === "string" ? error : (message ?? "");
}

/** Reads the JSON at the beginning of a text; undefined if there is none. */
function leadingJson(text: string): unknown {
  for (let end = text.length; end > 0; end--) {
    try {
      return JSON.parse(text.slice(0, end));
    } catch {}
  }
  return undefined;
}

/** Changes a request as a hint says; undefined if it says nothing about the request. */
function followed(hint: string, path: string, body: Body): { path: string; body: Body } | undefined {
  const whole = /send a body such as (?=\{)/i.exec(hint);
  if (whole) {
    const rest = hint.slice(whole.index + whole[0].length);
    const to = /^.*\} to (\/\S*?)(?:,|\.?$)/.exec(rest)?.[1];
    return { path: to ?? path, body: leadingJson(to ? rest.slice(0, rest.indexOf("} to ") + 1) : rest) as Body };
  }
  const left = /(?:leave|correct) `([\w.]+)`/i.exec(hint);
  if (left) return { path, body: Object.fromEntries(Object.entries(body).filter(([name]) => name !== left[1])) };
  const set = /set `([\w.]+)` to (?:a value such as |one of )?/i.exec(hint);
  if (set) return { path, body: { ...body, [set[1] ?? ""]: leadingJson(hint.slice(set.index + set[0].length)) } };
  const budget = /leave the (field|budget) out/.test(hint);
  if (budget) return { path, body: { ...body, latency_budget_ms: undefined } };
  return undefined;
}

const wrong: readonly unknown[] = [0, -1, 1.5, 1e9, "x", "", true, [], {}, [[]], [null], [1, "a"], { text: 1 }, [{}]];

/** Replaces long and short texts of a value. */
const withText = (value: unknown, text: string): unknown =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) => (typeof each === "string" ? text : each));

/** Makes a body wrong in one or two fields, or without one, or with an input that is too long. */
function damaged(example: Body, fields: readonly string[], random: () => number): Body {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const body: Record<string, unknown> = { ...example };
  for (let changes = 1 + Math.floor(random() * 2); changes > 0; changes--) {
    const how = random();
    const field = pick(fields);
    if (how < 0.15) delete body[pick(Object.keys(example))];
    else if (how < 0.25) body["model"] = pick(["other", "", 7]);
    else if (how < 0.35) body["latency_budget_ms"] = pick(["soon", [], true]);
    else if (how < 0.45 && "truncate" in body === false && fields.includes("truncate")) {
      Object.assign(body, withText(example, LONG), {
        truncate: fields.includes("texts") && "texts" in example ? "NONE" : false,
      });
    } else if (how < 0.55) body[`${field}s`] = pick(wrong);
    else body[field] = pick(wrong);
  }
  return body;
}

/** Errors whose cure is another text, which no program can write. */
const OF_TEXTS = /is empty|has no inputs|needs at least one character|no mask token|Write \[MASK\]/;

const fit: Readonly<Record<string, keyof typeof tasks>> = {
  "/v1/rerank": "crossEncoder",
  "/v2/rerank": "crossEncoder",
  "/rerank": "crossEncoder",
};

describe("a wrong body", () => {
  it.each(shownRoutes(dialects).map((route) => [route.path, route] as const))(
    "of POST %s is answered after its hints were followed",
    async (path, route) => {
      const task = fit[path] ?? route.task ?? "embed";
      const post = await setUp(tasks[task]);
      const example = route.example as Body;
      const { properties = {} } = jsonSchema(route.schema) as { properties?: object };
      const random = randomNumbers(path.length);
      const count = { sent: 0, refused: 0, cured: 0 };
      for (let i = 0; i < BODIES; i++) {
        let request = { path, body: damaged(example, Object.keys({ ...properties, ...example }), random) };
        const first = request.body;
        const said: string[] = [];
        count.sent++;
        for (let tries = 0; tries < 8; tries++) {
          const { ok, text } = await post(request.path, request.body);
          if (ok) {
            if (tries > 0) count.cured++;
            break;
          }
          if (tries === 0) count.refused++;
          said.push(text);
          expect(text).not.toMatch(/[^.!?:] (?:Send|Set|Leave|Correct|Give) /);
          if (OF_TEXTS.test(text)) {
            count.refused--;
            break;
          }
          const next = followed(text, request.path, request.body);
          if (!next || tries === 7) throw new Error(`${JSON.stringify(first)}: ${said.join("\n")}`);
          request = next;
        }
      }
      expect(count.refused).toBeGreaterThan(10);
      expect(count.cured).toBe(count.refused);
    },
  );
});

describe("a model with another task", () => {
  const cases = shownRoutes(dialects).flatMap(({ path, runsModel }) =>
    runsModel ? Object.entries(tasks).map(([name, task]) => [path, name, task] as const) : [],
  );

  it.each(cases)(
    "is, on POST %s with %s, used by a request that the hint describes, or prepared by its command",
    async (path, _, task) => {
      const post = await setUp(task);
      const example = shownRoutes(dialects).find((route) => route.path === path)?.example as Body;
      const { ok, text } = await post(path, example);
      if (ok || OF_TEXTS.test(text)) return;
      expect(wrongCommands({ path, text }, {})).toEqual([]);
      if (/`bert-edge prepare/.test(text)) return;
      if (/send pairs of texts to \/v1\/classify/i.test(text)) return;
      const next = followed(text, path, example);
      if (!next) throw new Error(text);
      const { path: to, body } = next;
      const second = await post(to, body);
      const again = second.ok ? undefined : followed(second.text, to, body);
      const last = again ? await post(again.path, again.body) : second;
      expect({ text, second, last }).toMatchObject({ last: { ok: true } });
    },
  );
});
