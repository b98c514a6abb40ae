/**
 * Who owns which bytes of the engine's memory, the only place where offsets are made:
 *
 *     0 ─────────── 1 KiB ──────────── 4 KiB ──────────────────────── end of file ─────────────────────── end
 *       nothing: a     the kernels' own   the model file as it is,        values, scratch
 *       pointer of 0   constants          its tensors at 64-byte offsets
 */
export const KERNEL_DATA = 1024;
export const MODEL = 4096;
const PAGE = 65_536;
const ALIGNMENT = 64;

export const aligned = (offset: number): number => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
export const pagesFor = (bytes: number): number => Math.ceil(bytes / PAGE);
