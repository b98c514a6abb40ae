import { decodeFloats } from "../serve/contract/base64.ts";
import type { EmbedRequest, EmbedResponse } from "../serve/contract/embed.ts";
import { snakeCase } from "./camel-case.ts";
import type { RequestDetails, VectorOptions } from "./embeddings.ts";
import { type RequestSettings, request } from "./request.ts";

export interface RequestAnswer {
  readonly vectors: Float32Array<ArrayBuffer>[];
  readonly model: string;
  readonly version: string;
  readonly details: RequestDetails;
}

/**
 * Asks for the vectors of some texts in one request.
 *
 * @param indices the request's texts, as indices in `texts`
 * @throws a subclass of BertEdgeClientError, or the abort reason of `signal`
 */
export async function requestVectors(
  texts: readonly string[],
  indices: readonly number[],
  settings: RequestSettings & VectorOptions,
): Promise<RequestAnswer> {
  const { truncate = false, promptName, dimensions, model: wanted } = settings;
  const body: EmbedRequest = {
    inputs: indices.map((index) => texts[index] as string),
    encoding_format: "base64",
    ...snakeCase<Partial<EmbedRequest>>({ truncate, promptName, dimensions, model: wanted }),
  };
  const { result, details } = await request({ route: "embed", body, indices, read: vectorsIn }, settings);
  const { model, version, ...rest } = details;
  return { vectors: result, model, version, details: { texts: indices.length, ...rest } };

  /** @throws an error if the response is not from bert-edge */
  function vectorsIn({ embeddings }: EmbedResponse): Float32Array<ArrayBuffer>[] {
    const vectors = (embeddings as string[]).map(decodeFloats);
    if (vectors.length !== indices.length) throw new TypeError("Wrong number of vectors");
    return vectors;
  }
}
