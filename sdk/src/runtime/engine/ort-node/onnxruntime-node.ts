import { optionalPackage } from "../../../artifact/optional-package.ts";

/**
 * Imports onnxruntime-node, at the first call.
 *
 * @throws BertEdgeError `package_missing`
 */
export const onnxruntimeNode = () => optionalPackage("onnxruntime-node", () => import("onnxruntime-node"));
