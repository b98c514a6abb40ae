import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { serve } from "@hono/node-server";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRegionApp } from "#sdk/serve/region-app.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { fakeEngine, TINY, tinyStore } from "../fixtures/tiny-model.ts";
import { waitFor } from "../fixtures/wait-for.ts";

const log = errorLog();
const head = "POST /v1/embed HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-type: application/json\r\n";
const bodies = {
  "a body of a declared size": 'content-length: 1000\r\n\r\n{"inputs": ["a',
  "a body in chunks": 'transfer-encoding: chunked\r\n\r\nff\r\n{"inputs": ["a',
};
const ways: [body: keyof typeof bodies, how: "end" | "resetAndDestroy"][] = [
  ["a body of a declared size", "end"],
  ["a body of a declared size", "resetAndDestroy"],
  ["a body in chunks", "end"],
  ["a body in chunks", "resetAndDestroy"],
];

/** Sends half a request, ends or resets the connection when the server reads the body, and returns the answer. */
async function sendHalf(
  port: number,
  body: keyof typeof bodies,
  how: "end" | "resetAndDestroy",
  reading: Promise<void>,
) {
  const socket = connect(port, "127.0.0.1");
  const closed = once(socket, "close").catch(() => {});
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece;
  });
  socket.write(head + bodies[body]);
  await reading;
  socket[how]();
  await closed;
  return answer;
}

describe("a caller of the region who sends half of", () => {
  it.each(ways)("%s, and leaves with %s, leaves no trace in the log", async (body, how) => {
    const engine = fakeEngine({ target: "regional-cpu" });
    const app = createRegionApp({ models: await tinyStore(), model: TINY.name, engine, keys: ["k"] });
    const [reading, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()];
    const server = serve({
      port: 0,
      async fetch(request) {
        const answer = Promise.resolve(app.fetch(request));
        setImmediate(reading.resolve);
        answered.resolve((await answer).clone());
        return answer;
      },
    });
    await once(server, "listening");
    await sendHalf((server.address() as AddressInfo).port, body, how, reading.promise);
    const answer = await answered.promise;
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: "request_invalid" } }]);
    expect(log).not.toHaveBeenCalled();
    server.close();
  });
});

describe("a caller of a Worker who sends half of", () => {
  const output: string[] = [];
  let workerd: Miniflare;
  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `
          import { Hono } from "hono";
          import * as v from "valibot";
          import { jsonBody } from "./sdk/src/serve/middleware/body.ts";
          import { countInFlight } from "./sdk/src/serve/middleware/in-flight.ts";
          import { answerError } from "./sdk/src/serve/on-error.ts";
          import { inFlight } from "./sdk/src/serve/queue/in-flight.ts";
          const app = new Hono();
          app.onError((error, c) => { console.log("CODE", error.code); return answerError(error, c); });
          app.use((c, next) => { console.log("READING"); return next(); });
          const memory = inFlight({ maxBytes: () => 1_000_000, refused() {}, now: () => performance.now() });
          const hold = (holder, bytes) => memory.hold(holder, bytes, 60_000);
          app.use(countInFlight(() => ({ hold }), { maxBodyBytes: 1_000_000 }));
          app.post("/v1/embed", async (c) => c.json(await jsonBody(c, v.object({}), { hint: "Send {}." })));
          export default app;`,
        resolveDir: process.cwd(),
      },
      bundle: true,
      write: false,
      format: "esm",
      conditions: ["workerd", "worker"],
    });
    const options = convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]?.text ?? "",
      compatibilityDate: "2026-11-01",
      handleStructuredLogs: ({ message }) => void output.push(message),
    });
    workerd = new Miniflare(options);
  });
  afterAll(() => workerd?.dispose());

  // workerd cancels the work of a request whose connection is reset, and says nothing.
  it.each(ways.filter(([, how]) => how === "end"))(
    "%s, and leaves with %s, leaves no stack in the log",
    async (body, how) => {
      output.length = 0;
      const { port } = await workerd.ready;
      const reading = waitFor(() => expect(output).toEqual(["READING"]));
      await sendHalf(Number(port), body, how, reading);
      await waitFor(() => expect(output).toEqual(["READING", "CODE request_invalid"]));
    },
  );
});
