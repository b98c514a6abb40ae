import { onnxruntimeNode } from "./onnxruntime-node.ts";

/**
 * Session options with which onnxruntime multiplies uint8 by uint8 where uint8 by int8 would overflow. They only work with graph
 * optimizations. https://github.com/microsoft/onnxruntime/blob/main/include/onnxruntime/core/session/onnxruntime_session_options_config_keys.h
 */
export const EXACT_INT8 = { extra: { session: { x64quantprecision: "1" } } } as const;

/** Number of products that the probe (see PROBE) adds up. */
const DEPTH = 4;

/**
 * ONNX file of the probe, a graph that shows whether sums overflow: y = MatMulInteger(a, w). `a` is uint8[1, 4]. `w` is int8[4, 1] and
 * contains 127 four times.
 */
export const PROBE =
  "CAgSCWJlcnQtZWRnZTpbCicKAWEKAXcSAXkaDU1hdE11bEludGVnZXIiDU1hdE11bEludGVnZXISBXByb2JlKg8IBAgBEANCAXdKBH9/f39aEwoBYRIOCgwIAhIICgIIAQoCCARiAwoBeUIECgAQDQ==";

let known: Promise<boolean> | undefined;

/**
 * Whether sums of int8 products overflow on this CPU. On x86 without VNNI, onnxruntime's fastest kernels add pairs of products in
 * 16 bits, and limit each sum to 32,767. The outputs of a model are then wrong. Measured once, in a millisecond.
 *
 * @throws BertEdgeError `package_missing`
 */
export function overflowsInt8(): Promise<boolean> {
  known ??= measure();
  return known;
}

async function measure(): Promise<boolean> {
  const { InferenceSession, Tensor } = await onnxruntimeNode();
  const session = await InferenceSession.create(Buffer.from(PROBE, "base64"), { intraOpNumThreads: 1 });
  const a = new Tensor("uint8", new Uint8Array(DEPTH).fill(255), [1, DEPTH]);
  const { y } = await session.run({ a });
  await session.release();
  return y?.data[0] !== DEPTH * 255 * 127;
}
