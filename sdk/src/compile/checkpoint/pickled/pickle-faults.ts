import { BertEdgeError } from "../../../artifact/error.ts";
import type { FileFaults } from "../../files/file-faults.ts";
import type { Conversion } from "./conversion.ts";

/**
 * Makes the errors of a file that PyTorch wrote.
 *
 * @param conversion called for a file that is not supported
 */
export const pickleFaults = (path: string, conversion: () => Conversion): FileFaults => ({
  invalid: (fault, cause) =>
    new BertEdgeError("checkpoint_invalid", `${path} is not a valid PyTorch file: ${fault}.`, {
      hint: "The download may be incomplete, or the file may be a Git LFS pointer: download it again.",
      cause,
    }),
  unsupported(fault) {
    const { command, to } = conversion();
    return new BertEdgeError("checkpoint_unsupported", `${path} ${fault}.`, {
      hint:
        "Reading such a file can run any code, so bert-edge reads only what tensors need. If you trust the model, save it as " +
        `safetensors with its own tools${to === undefined ? "" : `, then give ${to}`}:\n    ${command}\n` +
        "Or give its ONNX export, if it has one.",
    });
  },
});
