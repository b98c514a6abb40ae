import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { BertEdgeError } from "../../artifact/error.ts";
import { readBody } from "./read-body.ts";

/**
 * Refuses request bodies of more than `maxBytes`. Checks the declared size; without a declared size, counts bytes while
 * reading.
 *
 * @throws BertEdgeError `body_too_large`, `request_invalid`
 */
export function limitBody(maxBytes: number): MiddlewareHandler {
  const limit = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new BertEdgeError("body_too_large", `The request body is larger than ${maxBytes} bytes.`, {
        hint: "Send the texts in several requests.",
      });
    },
  });
  return async function checkBodySize(c, next) {
    let isRead = false;
    // The errors of later handlers are not errors of the body, so they are outside of `readBody`.
    await readBody(() =>
      Promise.resolve(
        limit(c, async () => {
          isRead = true;
        }),
      ),
    );
    if (isRead) await next();
  };
}
