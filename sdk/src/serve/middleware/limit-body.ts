import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { BertEdgeError } from "../../artifact/error.ts";

/**
 * Refuses request bodies of more than `maxBytes`. Checks the declared size; without a declared size, counts bytes while
 * reading.
 *
 * @throws BertEdgeError `body_too_large`
 */
export function limitBody(maxBytes: number): MiddlewareHandler {
  return bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new BertEdgeError("body_too_large", `The request body is larger than ${maxBytes} bytes.`, {
        hint: "Send the texts in several requests.",
      });
    },
  });
}
