import { AwsClient } from "aws4fetch";
import {
  ATTRIBUTES_HEADER,
  PATH_ATTRIBUTE,
  readAttributes,
  responseAttributes,
  STATUS_ATTRIBUTE,
  writeAttributes,
} from "../../contract/sagemaker.ts";
import type { HttpRegionSettings } from "../region-settings.ts";
import type { Transport } from "./transport.ts";

/**
 * Calls SageMaker's InvokeEndpoint, which has one route, and which removes all headers but its own:
 * https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html. So path and headers travel in
 * the custom attributes, and so do the headers and the status of the response. There is no key: SageMaker lets nobody else
 * call the region.
 */
export function overSageMaker(
  { base, aws }: HttpRegionSettings & { aws: NonNullable<HttpRegionSettings["aws"]> },
  fetcher: typeof fetch,
): Transport {
  const signer = new AwsClient(aws);
  const url = new URL("invocations", base).href;

  async function invoke(path: string, body: object, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    const attributes = writeAttributes([[PATH_ATTRIBUTE, path], ...Object.entries(headers)]);
    const request = await signer.sign(url, {
      method: "POST",
      headers: { "content-type": "application/json", [ATTRIBUTES_HEADER]: attributes },
      body: JSON.stringify(body),
    });
    return unpack(await fetcher(request, { signal, redirect: "manual" }));
  }

  return {
    host: `${base.host}${base.pathname.replace(/\/$/, "")}`,
    settings: ["REGION_URL", "REGION_AWS_ACCESS_KEY_ID"],
    post: invoke,
    get: (path, _, signal) => invoke(path, {}, {}, signal),
  };
}

/** Restores the region's own status and headers. A response that the region did not send is returned as it is. */
function unpack(response: Response): Response {
  const attributes = readAttributes(response.headers.get(ATTRIBUTES_HEADER));
  const status = Number(attributes.get(STATUS_ATTRIBUTE) ?? Number.NaN);
  // Only a refusal comes with a status, because SageMaker replaces the whole response of a container that fails.
  const isRefusal = Number.isInteger(status) && status >= 400 && status <= 599;
  if (!response.ok || !response.body) return response;
  const headers = new Headers();
  for (const name of responseAttributes) {
    const value = attributes.get(name);
    if (value !== undefined && /^[ -~]*$/.test(value)) headers.set(name, value);
  }
  return new Response(response.body, { status: isRefusal ? status : response.status, headers });
}
