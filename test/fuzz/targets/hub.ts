import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadModel } from "#sdk/compile/checkpoint/hub/download-model.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import type { Json } from "../damage-json.ts";
import { damagedJsonText } from "../damaged-json-text.ts";
import { outcome } from "../outcome.ts";
import type { Target } from "../target.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const ENDPOINT = "http://127.0.0.1:1";
const contents: Readonly<Record<string, string>> = {
  "config.json": '{"architectures": ["BertModel"], "model_type": "bert"}',
  "modules.json": "[]",
  "tokenizer.json": "{}",
  "model.safetensors": "x".repeat(200),
};
/** The same model, with its weights in two files. */
const inShards: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(contents).filter(([name]) => name !== "model.safetensors")),
  "model.safetensors.index.json": JSON.stringify({
    metadata: { total_size: 320 },
    weight_map: { a: "model-1.safetensors", b: "model-2.safetensors", c: "model-2.safetensors" },
  }),
  "model-1.safetensors": "y".repeat(150),
  "model-2.safetensors": "z".repeat(170),
};

/** The Hugging Face Hub's answers: a commit, a list of files, and files. No request leaves the process. */
export const hub: Target = {
  runs: { long: 10_000, short: 60 },
  refusals: [
    "hub_answer_invalid",
    "hub_unavailable",
    "hub_file_corrupt",
    "hub_model_missing",
    "hub_access_denied",
    "checkpoint_missing",
  ],
  async start() {
    return async (seed) => {
      const choice = new SeededChoice(seed);
      const files = choice.below(2) ? contents : inShards;
      const cache = mkdtempSync(join(tmpdir(), "bert-edge-fuzz-hub-"));
      const { fetch } = globalThis;
      globalThis.fetch = async (input) =>
        answerTo(new URL(String(input instanceof Request ? input.url : input)), files, choice);
      try {
        const settings = { endpoint: new URL(ENDPOINT), token: undefined, cache };
        const model = { name: "org/model", revision: "main", file: undefined };
        return await outcome(() => downloadModel(model, { settings, wait: async () => {} }));
      } finally {
        globalThis.fetch = fetch;
        rmSync(cache, { recursive: true, force: true });
      }
    };
  },
};

/** Answers as the Hub does. A quarter of the answers are damaged. */
function answerTo({ pathname }: URL, files: Readonly<Record<string, string>>, choice: SeededChoice): Response {
  const isDamaged = choice.below(4) === 0;
  if (isDamaged && choice.below(3) === 0) {
    const location = choice.of([
      "/x",
      "//evil.example/x",
      "file:///etc/passwd",
      "http://169.254.169.254/",
      "::",
      `${ENDPOINT}${pathname}`,
    ]);
    return choice.below(2)
      ? new Response("no", {
          status: choice.of([400, 401, 403, 404, 429, 500, 503]),
          headers: { "retry-after": choice.of(["1", "-1", "1e9", "x"]) },
        })
      : new Response(null, { status: choice.of([301, 302, 307, 308]), headers: { location } });
  }
  const json = (document: Json) => {
    const text = isDamaged ? damagedJsonText(document, choice) : JSON.stringify(document);
    return new Response(text, { headers: { "content-type": "application/json" } });
  };
  const file = files[pathname.split("/").at(-1) ?? ""];
  if (pathname.includes("/revision/"))
    return json({
      _id: "1",
      id: "org/model",
      modelId: "org/model",
      sha: COMMIT,
      private: false,
      gated: false,
      downloads: 1,
      likes: 1,
      lastModified: "2026-01-01T00:00:00.000Z",
    });
  if (pathname.includes("/tree/")) return json(Object.entries(files).map(([path, text]) => entryOf(path, text)));
  if (file === undefined) return new Response("no", { status: 404 });
  const bytes = Buffer.from(file);
  if (!isDamaged) return new Response(bytes);
  if (choice.below(2)) return new Response(damagedBytes(bytes, choice));
  const length = choice.of(["0", "1", "-1", "1e9", "99999999999999999999", "x"]);
  const range = choice.of(["bytes 1-2/3", "bytes 0-", "x"]);
  return new Response(bytes, {
    status: choice.of([200, 206]),
    headers: { "content-length": length, "content-range": range },
  });
}

function entryOf(path: string, text: string): Json {
  const size = text.length;
  const oid = createHash("sha1").update(`blob ${size}\0${text}`).digest("hex");
  return size < 100
    ? { type: "file", path, size, oid }
    : {
        type: "file",
        path,
        size,
        oid,
        lfs: { oid: createHash("sha256").update(text).digest("hex"), size, pointerSize: 100 },
      };
}
