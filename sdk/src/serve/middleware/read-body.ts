import { BertEdgeError } from "../../artifact/error.ts";

/**
 * Reads a request's body. A body that ends early is the caller's fault: the caller has closed the connection, and is usually
 * gone.
 *
 * @throws BertEdgeError `request_invalid`, and the BertEdgeErrors of `read`
 */
export async function readBody<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof BertEdgeError) throw cause;
    throw new BertEdgeError("request_invalid", "The request body ended before it was complete.", {
      hint: "Send the whole body, and keep the connection open until the answer has arrived.",
      cause,
    });
  }
}
