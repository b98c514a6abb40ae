import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { withVectorOutput } from "../../../compile/model/vector-output.ts";
import { encodeOnnx } from "../../../compile/onnx/to-onnx.ts";
import { type EngineSession, oneModel } from "../engine.ts";
import { ortNodeEngine } from "./index.ts";

const head = { pooling: "mean", normalize: true } as const;
const texts = Array.from({ length: 9 }, (_, i) =>
  Int32Array.from({ length: 3 + i }, (_, at) => 2 + ((7 * i + at) % 40)),
);

let model: ReturnType<typeof oneModel>;
let alone: EngineSession;
const opened: EngineSession[] = [];
beforeAll(async () => {
  const { config, weights } = tinyBert();
  model = oneModel(encodeOnnx(withVectorOutput(await fusedGraph(config, weights), head)));
  alone = await ortNodeEngine({ threads: 1 }).load(model);
  return () => alone.release();
});
afterEach(async () => {
  for (const session of opened.splice(0)) await session.release();
});

async function load(sessions: number): Promise<EngineSession> {
  const session = await ortNodeEngine({ sessions, threads: 1 }).load(model);
  opened.push(session);
  return session;
}

describe.each([
  ["a session in a thread", 1],
  ["three sessions in threads", 3],
])("%s", (_, sessions) => {
  it("gives the vectors and states of a session in this thread, in order, for many requests at once", async () => {
    const session = await load(sessions);
    expect(session).toMatchObject({ provider: "cpu", target: "regional-cpu", parallel: sessions });
    const requests = [texts, texts.slice(3, 5), texts.slice().reverse(), []];
    const answers = requests.flatMap((request) => [session.run(request, head), session.run(request)]);
    const wanted = requests.flatMap((request) => [alone.run(request, head), alone.run(request)]);
    expect(await Promise.all(answers)).toEqual(await Promise.all(wanted));
  });

  it("leaves this thread free", async () => {
    const session = await load(sessions);
    expect(ortNodeEngine({ sessions }).blocksThread).toBe(false);
    let turns = 0;
    const work = session.run(Array(200).fill(texts[8]), head).then(() => turns);
    const count = setInterval(() => turns++);
    try {
      expect(await work).toBeGreaterThan(0);
    } finally {
      clearInterval(count);
    }
  });

  it("passes on the errors of onnxruntime, and goes on", async () => {
    const session = await load(sessions);
    await expect(session.run([Int32Array.of(1 << 20)], head)).rejects.toThrow(/input index out of range/);
    expect(await session.run(texts, head)).toEqual(await alone.run(texts, head));
  });
});

it("says why a file cannot be loaded, and leaves no thread running", async () => {
  const engine = ortNodeEngine({ sessions: 2, providers: ["cpu"] });
  await expect(engine.load(oneModel(new Uint8Array(9)))).rejects.toMatchObject({
    code: "engine_failed",
    cause: { errors: [expect.objectContaining({ message: expect.stringMatching(/protobuf/i) })] },
  });
});

it("refuses to run after its release", async () => {
  const session = await load(2);
  await session.release();
  await expect(session.run(texts, head)).rejects.toMatchObject({ code: "session_released" });
});

it.each([-1, 1.5, Number.NaN])("refuses %d sessions", (sessions) => {
  expect(() => ortNodeEngine({ sessions })).toThrow(expect.objectContaining({ code: "setting_invalid" }));
});
