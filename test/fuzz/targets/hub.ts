import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadModel } from "#sdk/compile/checkpoint/hub/download-model.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import { damagedJson, type Json } from "../damage-json.ts";
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

/** The Hugging Face Hub's answers: a commit, a list of files, and files. No request leaves the process. */
export const hub: Target = {
  runs: { long: 10_000, short: 60 },
  async start() {
    return async (seed) => {
      const choice = new SeededChoice(seed);
      const cache = mkdtempSync(join(tmpdir(), "bert-edge-fuzz-hub-"));
      const { fetch } = globalThis;
      globalThis.fetch = async (input) =>
        answerTo(new URL(String(input instanceof Request ? input.url : input)), choice);
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
function answerTo({ pathname }: URL, choice: SeededChoice): Response {
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
    const text = JSON.stringify(isDamaged ? damagedJson(document, choice) : document);
    return new Response(text, { headers: { "content-type": "application/json" } });
  };
  const file = contents[pathname.split("/").at(-1) ?? ""];
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
  if (pathname.includes("/tree/")) return json(Object.entries(contents).map(([path, text]) => entryOf(path, text)));
  if (file === undefined) return new Response("no", { status: 404 });
  const bytes = Buffer.from(file);
  return new Response(isDamaged ? damagedBytes(bytes, choice) : bytes);
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
