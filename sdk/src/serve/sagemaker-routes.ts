import { type Context, Hono } from "hono";
import { BertEdgeError } from "../artifact/error.ts";
import {
  ATTRIBUTES_HEADER,
  PATH_ATTRIBUTE,
  readAttributes,
  requestAttributes,
  responseAttributes,
  STATUS_ATTRIBUTE,
  writeAttributes,
} from "./contract/sagemaker.ts";
import { answerError } from "./on-error.ts";

/** Routes that a caller of SageMaker can reach, and their methods. */
const methods: Readonly<Record<string, string>> = {
  "v1/embed": "POST",
  "v1/embeddings": "POST",
  "v1/outputs": "POST",
  ready: "GET",
};

/** Headers about the body, which SageMaker passes on as headers. */
const BODY_HEADERS = ["content-type", "content-length"];

/**
 * Makes the routes that SageMaker calls: `GET /ping`, which answers 200 when the model is loaded, and `POST /invocations`,
 * which hands a request to the route that its custom attributes name, and to `/v1/embed` if they name none
 * (https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html).
 *
 * @param routes the app that answers, without a check of keys: SageMaker has checked who calls
 */
export function sageMakerRoutes<Env extends object>(routes: Hono<{ Bindings: Env }>): Hono<{ Bindings: Env }> {
  const app = new Hono<{ Bindings: Env }>();
  app.onError(answerError);
  app.get("/ping", (c) => routes.fetch(new Request(new URL("/ready", c.req.url)), c.env));
  app.post("/invocations", async (c) => {
    const attributes = readAttributes(c.req.header(ATTRIBUTES_HEADER) ?? null);
    const path = attributes.get(PATH_ATTRIBUTE);
    const response = await routes.fetch(requestTo(path ?? "v1/embed", attributes, c), c.env);
    return packed(response, path !== undefined);
  });
  return app;
}

/** @throws BertEdgeError `route_unknown` */
function requestTo(path: string, attributes: ReadonlyMap<string, string>, c: Context): Request {
  const method = Object.hasOwn(methods, path) ? methods[path] : undefined;
  if (method === undefined) {
    throw new BertEdgeError("route_unknown", `There is no route ${JSON.stringify(path)} behind /invocations.`, {
      hint: `Send one of ${Object.keys(methods).join(", ")} as the custom attribute \`${PATH_ATTRIBUTE}\`, or none.`,
    });
  }
  const { body, signal } = c.req.raw;
  const headers = new Headers();
  const copy = (name: string, value: string | undefined) => {
    if (value !== undefined && /^[ -~]*$/.test(value)) headers.set(name, value);
  };
  for (const name of BODY_HEADERS) copy(name, c.req.header(name));
  for (const name of requestAttributes) copy(name, attributes.get(name));
  const content = method === "POST" && body ? { body, duplex: "half" } : {};
  return new Request(new URL(`/${path}`, c.req.url), { method, headers, signal, ...content } as RequestInit);
}

/**
 * Writes the headers of a response into its custom attributes, the only header that SageMaker passes back.
 *
 * @param isOurs whether the caller is an edge, which reads the attributes. For an edge, a refusal has the status 200 and carries its
 *   own status as an attribute, because SageMaker replaces responses with other statuses.
 */
function packed({ status, headers, body }: Response, isOurs: boolean): Response {
  const hidesStatus = isOurs && status >= 400;
  const attributes = responseAttributes.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const all = hidesStatus ? [[STATUS_ATTRIBUTE, `${status}`] as const, ...attributes] : attributes;
  return new Response(body, {
    status: hidesStatus ? 200 : status,
    headers: {
      "content-type": headers.get("content-type") ?? "application/json",
      [ATTRIBUTES_HEADER]: writeAttributes(all),
    },
  });
}
