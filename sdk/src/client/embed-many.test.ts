import { describe, expect, it } from "vitest";
import { nextTurn } from "../artifact/next-turn.ts";
import { encodeBytes } from "../serve/contract/vector-text.ts";
import { BertEdge, type BertEdgeOptions, InvalidRequestError, VersionChangedError } from "./index.ts";

interface ClientSetup extends Partial<BertEdgeOptions> {
  versionOf?: (request: number) => string;
  /** Resolves when a request is to be answered. */
  until?: (request: number, signal: AbortSignal) => Promise<unknown>;
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await nextTurn();
};

/** Makes a client whose vectors are the numbers in the texts. Counts the requests that run at the same time. */
function clientOf({
  versionOf = () => "0123456789ab",
  until = (request) => turns(request % 2 === 0 ? 1 : 6),
  ...rest
}: ClientSetup = {}) {
  const state = { running: 0, most: 0, requests: [] as string[][], aborted: 0 };
  const client = new BertEdge({
    ...{ baseURL: "https://edge.test", apiKey: "k", batchSize: 3, concurrency: 2, maxRetries: 0 },
    fetch: (async (_: URL, { body, signal }: RequestInit) => {
      const { inputs } = JSON.parse(body as string) as { inputs: string[] };
      const number = state.requests.push(inputs) - 1;
      state.most = Math.max(state.most, ++state.running);
      await until(number, signal as AbortSignal);
      state.running--;
      if (signal?.aborted) state.aborted++;
      signal?.throwIfAborted();
      if (inputs.includes("bad")) {
        return Response.json({ error: { code: "input_empty", message: "Input 0 is empty." } }, { status: 400 });
      }
      const embeddings = inputs.map((text) => encodeBytes(Float32Array.of(Number(text))));
      return Response.json({
        ...{ model: "tiny", version: versionOf(number), tier: "edge", embeddings, usage: { tokens: 1 } },
      });
    }) as unknown as typeof fetch,
    ...rest,
  });
  return { client, state };
}

async function numbersOf(vectors: AsyncIterable<Float32Array>): Promise<number[]> {
  const numbers: number[] = [];
  for await (const [number] of vectors) numbers.push(number as number);
  return numbers;
}

describe("embedMany", () => {
  it("yields vectors in order, in batches, some at the same time", async () => {
    const { client, state } = clientOf();
    const done: number[] = [];
    async function* lines() {
      for (let i = 0; i < 11; i++) yield `${i}`;
    }
    const numbers = await numbersOf(client.embedMany(lines(), { onProgress: (progress) => done.push(progress.done) }));
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(state.requests.map(({ length }) => length)).toEqual([3, 3, 3, 2]);
    expect(state.most).toBe(2);
    expect(done).toEqual([3, 6, 9, 11]);
    expect(await numbersOf(client.embedMany([]))).toEqual([]);
  });

  it("reads no more texts than it needs, and stops its requests when the reader stops", async () => {
    const aborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener("abort", resolve));
    const { client, state } = clientOf({ until: (request, signal) => (request === 0 ? nextTurn() : aborted(signal)) });
    let read = 0;
    function* endless() {
      for (;;) yield `${read++}`;
    }
    for await (const [number] of client.embedMany(endless())) if (number === 1) break;
    await nextTurn();
    expect(read).toBeLessThanOrEqual(9);
    expect(state).toMatchObject({ running: 0, aborted: 1 });
  });

  it("fails with the first error, with the abort reason, and when the model changes", async () => {
    const { client, state } = clientOf();
    await expect(numbersOf(client.embedMany(["1", "2", "3", "bad", "5"]))).rejects.toBeInstanceOf(InvalidRequestError);
    expect(state.requests).toHaveLength(2);
    const aborted = AbortSignal.abort("enough");
    await expect(numbersOf(client.embedMany(["1"], { signal: aborted }))).rejects.toBe("enough");
    const changing = clientOf({ versionOf: (request) => `00000000000${request}` });
    await expect(numbersOf(changing.client.embedMany(["1", "2", "3", "4"]))).rejects.toBeInstanceOf(
      VersionChangedError,
    );
  });
});

describe("embed with collectMs", () => {
  it("sends concurrent calls for one text in one request, and gives each its own answer", async () => {
    const { client, state } = clientOf({ collectMs: 1, batchSize: 100 });
    const answers = await Promise.all(["1", "2", "3"].map((text) => client.embed(text)));
    expect(state.requests).toEqual([["1", "2", "3"]]);
    expect(answers.map(({ embeddings }) => embeddings.map(([number]) => number))).toEqual([[1], [2], [3]]);
    expect(answers[0]).not.toHaveProperty("failed");
    await client.embed("4");
    expect(state.requests).toHaveLength(2);
  });

  it("keeps calls with other options, lists, and calls that can be aborted apart", async () => {
    const { client, state } = clientOf({ collectMs: 1, batchSize: 100 });
    const { signal } = new AbortController();
    await Promise.all([
      ...[client.embed("1"), client.embed("2", { truncate: true }), client.embed(["3", "4"])],
      ...[client.embed("5", { signal }), client.embed("6", { truncate: true })],
    ]);
    expect(state.requests.toSorted()).toEqual([["1"], ["2", "6"], ["3", "4"], ["5"]]);
  });

  it("fails every call of a request that fails, and only the call of a text that is refused", async () => {
    const { client } = clientOf({ collectMs: 1 });
    const settled = await Promise.allSettled(["1", "bad"].map((text) => client.embed(text)));
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const refusing = new BertEdge({
      ...{ baseURL: "https://edge.test", apiKey: "k", collectMs: 1, maxRetries: 0 },
      fetch: (async (_: URL, { body }: RequestInit) => {
        const { inputs } = JSON.parse(body as string) as { inputs: string[] };
        const index = inputs.indexOf("bad");
        const refusal = { error: { code: "input_empty", message: `Input ${index} is empty.`, index } };
        if (index >= 0) return Response.json(refusal, { status: 400 });
        const embeddings = inputs.map((text) => encodeBytes(Float32Array.of(Number(text))));
        return Response.json({ model: "t", version: "0", tier: "edge", embeddings, usage: { tokens: 1 } });
      }) as unknown as typeof fetch,
    });
    const [good, bad] = await Promise.allSettled(["1", "bad"].map((text) => refusing.embed(text)));
    expect(good).toMatchObject({ status: "fulfilled", value: { embeddings: [Float32Array.of(1)] } });
    expect(bad).toMatchObject({ status: "rejected", reason: { code: "input_empty" } });
  });
});
