import { afterEach, describe, expect, it, vi } from "vitest";
import { inspectDeployment } from "./inspect-deployment.ts";

const INFO = {
  model_id: "tiny",
  model_sha: "0123456789ab",
  task: "embed",
  dimensions: 8,
  max_input_length: 16,
  max_client_batch_size: 64,
  max_body_bytes: 1_000_000,
  max_wait_ms: 1_000,
  tier: "edge",
  provider: "wasm",
};

/** Answers /info with these responses, one after the other, and everything else as a deployment does. */
function deployment(...infos: Response[]): typeof fetch {
  return async (input) => {
    const { pathname } = new URL(String(input));
    if (pathname === "/info") return infos.shift() ?? Response.json(INFO);
    if (pathname === "/v1/models") return Response.json({ data: [{ id: "tiny" }] });
    return new Response("", { status: pathname === "/" ? 404 : 403 });
  };
}
const failing = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { code, message: `It is ${code}.`, hint: "Do this." } }, { status, headers });

const soon = { "retry-after-ms": "1" };

/** Makes timers fire as soon as this process waits for them. */
const skipWaits = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }).setTimerTickMode("nextTimerAsync");
afterEach(() => void vi.useRealTimers());

describe("inspectDeployment", () => {
  it("describes a deployment, and sends a key only if there is one", async () => {
    const send = vi.fn(deployment());
    expect(await inspectDeployment("http://edge.test/", { key: undefined, fetch: send })).toMatchObject({
      url: "http://edge.test",
      models: ["tiny"],
      page: false,
      artifacts: false,
    });
    expect(send.mock.calls[0]?.[1]?.headers).toEqual({});
    await inspectDeployment("http://edge.test/", { key: "right", fetch: send });
    expect(send.mock.lastCall?.[1]?.headers).toEqual({ authorization: "Bearer right" });
  });

  it("asks again while the deployment loads its model", async () => {
    skipWaits();
    const send = deployment(failing(503, "model_unavailable", soon), failing(429, "overloaded", soon));
    expect(await inspectDeployment("http://edge.test", { key: "k", fetch: send })).toMatchObject({ info: INFO });
  });

  it("passes on code and hint of what the deployment answers", async () => {
    skipWaits();
    const send: typeof fetch = async () => failing(503, "model_unavailable", soon);
    await expect(inspectDeployment("http://edge.test", { key: "k", fetch: send })).rejects.toMatchObject({
      code: "model_unavailable",
      message: "It is model_unavailable.",
      hint: "Do this.",
    });
  });

  it.each(["http://user:pass@edge.test", "http://edge.test/?key=pass", "http://edge.test#pass", "https://pass@"])(
    "neither asks nor shows %s",
    async (url) => {
      const send = vi.fn(deployment());
      const error = await inspectDeployment(url, { key: undefined, fetch: send }).catch((refusal) => refusal);
      expect(error).toMatchObject({ code: "setting_invalid" });
      expect(`${error.message} ${error.hint} ${error.cause}`).not.toContain("pass");
      expect(send).not.toHaveBeenCalled();
    },
  );

  it("stops a body without an end", async () => {
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(65_536));
    const send: typeof fetch = async () => new Response(new ReadableStream({ pull }));
    await expect(inspectDeployment("http://edge.test", { key: "k", fetch: send })).rejects.toMatchObject({
      code: "service_failed",
    });
  });

  it("gives up in time, also between two tries", async () => {
    const send: typeof fetch = async () => failing(503, "model_unavailable", { "retry-after-ms": "50000" });
    await expect(inspectDeployment("http://edge.test", { key: "k", fetch: send, timeoutMs: 20 })).rejects.toMatchObject(
      { code: "service_failed", message: expect.stringContaining("it does not answer") },
    );
  });

  it.each([
    [404, "<html>"],
    [200, "{}"],
    [200, "<html>"],
  ])("says that HTTP %i with %j is not bert-edge", async (status, body) => {
    const send: typeof fetch = async () => new Response(body, { status });
    await expect(inspectDeployment("http://edge.test", { key: "k", fetch: send })).rejects.toMatchObject({
      code: "service_failed",
      message: `http://edge.test is not a bert-edge deployment: GET /info answers ${status}.`,
    });
  });

  it.each([
    [{ key: undefined }, "http://edge.test needs an API key.", "Set BERT_EDGE_API_KEY"],
    [{ key: "k" }, "refuses the API key of BERT_EDGE_API_KEY.", "into BERT_EDGE_API_KEY."],
    [{ key: "k", keyFile: "key.txt" }, "refuses the API key of the file key.txt.", "into the file key.txt."],
  ])("says where the refused key came from: %j", async (options, message, hint) => {
    const send: typeof fetch = async () => failing(401, "key_wrong");
    await expect(inspectDeployment("http://edge.test", { ...options, fetch: send })).rejects.toMatchObject({
      code: "setting_invalid",
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });
});
