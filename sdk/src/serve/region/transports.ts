import { AwsClient } from "aws4fetch";
import {
  ATTRIBUTES_HEADER,
  PATH_ATTRIBUTE,
  readAttributes,
  responseAttributes,
  STATUS_ATTRIBUTE,
  writeAttributes,
} from "../contract/sagemaker.ts";
import type { HttpRegionSettings, WorkersAiBinding } from "./region-settings.ts";

/** Carries requests to the region, and its responses back. */
export interface Transport {
  /** Names the region in messages. */
  readonly host: string;
  /** The settings to check when the region cannot be reached. The first one is its address. */
  readonly settings: readonly string[];
  /** @param path is appended to the region's URL */
  send(path: string, request: RegionRequest, signal: AbortSignal): Promise<Response>;
}

interface RegionRequest {
  /** Posted as JSON. Without it, the request is a GET. */
  readonly body?: object;
  /** Headers that gateways and platforms may change on the way, so they are not signed. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signedHeaders?: Readonly<Record<string, string>>;
  readonly withKey?: boolean;
}

/**
 * Sends requests over HTTPS: with the key as Bearer token, or signed for AWS. Redirects are not followed, because texts
 * would go to an address that nobody has configured. Workers support only `manual` for this, which returns the redirect
 * itself as the response.
 */
export function overHttps({ base, key, aws }: HttpRegionSettings, fetcher: typeof fetch): Transport {
  const signer = aws && new AwsClient(aws);
  // The AWS signature takes the header `Authorization`, so the key needs another one.
  const access = key !== "" && (signer ? { "x-api-key": key } : { authorization: `Bearer ${key}` });

  return {
    host: base.host,
    settings: ["REGION_URL", "REGION_KEY"],
    async send(path, { body, headers = {}, signedHeaders, withKey }, signal) {
      const url = new URL(path, base).href;
      const json = body && { "content-type": "application/json" };
      const signed = { ...(withKey && access), ...json, ...signedHeaders };
      const init = body
        ? { method: "POST", headers: signed, body: JSON.stringify(body) }
        : { method: "GET", headers: signed };
      const request = signer ? await signer.sign(url, init) : new Request(url, init);
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
      // The signal is passed to `fetch` and not to the Request, because Node can lose the signal of a Request.
      return fetcher(request, { signal, redirect: "manual" });
    },
  };
}

/**
 * Calls SageMaker's InvokeEndpoint, which has one route, and which removes all headers but its own:
 * https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html. So the custom attributes carry
 * the path and headers of a request, and the status and headers of its response. No key is sent, because SageMaker checks
 * the signature of every caller.
 */
export function overSageMaker(settings: HttpRegionSettings, fetcher: typeof fetch): Transport {
  const { host, pathname } = settings.base;
  const https = overHttps(settings, fetcher);
  return {
    host: `${host}${pathname.replace(/\/$/, "")}`,
    settings: ["REGION_URL", "REGION_AWS_ACCESS_KEY_ID"],
    async send(path, { body = {}, headers = {} }, signal) {
      const attributes = writeAttributes([[PATH_ATTRIBUTE, path], ...Object.entries(headers)]);
      const signedHeaders = { [ATTRIBUTES_HEADER]: attributes };
      return unpack(await https.send("invocations", { body, signedHeaders }, signal));
    },
  };
}

/** Restores the region's own status and headers. An error response of SageMaker itself is returned unchanged. */
function unpack(response: Response): Response {
  const attributes = readAttributes(response.headers.get(ATTRIBUTES_HEADER));
  if (!response.ok || !response.body) return response;
  // Only a refusal has its status as an attribute. The container sends it with 200, because SageMaker replaces error responses.
  const status = Number(attributes.get(STATUS_ATTRIBUTE) ?? Number.NaN);
  const isRefusal = Number.isInteger(status) && status >= 400 && status <= 599;
  const headers = new Headers();
  for (const name of responseAttributes) {
    const value = attributes.get(name);
    if (value !== undefined && /^[ -~]*$/.test(value)) headers.set(name, value);
  }
  return new Response(response.body, { status: isRefusal ? status : response.status, headers });
}

/** Body of a probe: a text of one token, because the binding has no route without texts. */
const PROBE = { text: ["a"] };

/** Runs a model of Workers AI through its binding, which has no paths, keys or headers. */
export function overWorkersAi({ ai, model }: { ai: WorkersAiBinding; model: string }): Transport {
  return {
    host: `Workers AI (${model})`,
    settings: ["REGION_MODEL"],
    send: (_path, { body = PROBE }, signal) =>
      orAborted(ai.run(model, { ...body }, { returnRawResponse: true, signal }).then(responseOf), signal),
  };
}

/** Other implementations of the binding, as in tests, may ignore `returnRawResponse` and return the parsed JSON. */
const responseOf = (result: unknown): Response => (result instanceof Response ? result : Response.json(result));

/** Rejects when `signal` is aborted, and drops the response: in older runtimes, the binding ignores the signal. */
async function orAborted(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([response, aborted.promise]).catch((error: unknown) => {
    response.then(({ body }) => body?.cancel()).catch(() => {});
    throw error;
  });
}
