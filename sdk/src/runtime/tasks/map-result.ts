import type { TaskCall } from "./task-call.ts";

/** Returns a call whose result is `change` of the given call's result. */
export const mapResult = <R, Part, S>(call: TaskCall<R, Part>, change: (result: R) => S): TaskCall<S, Part> => ({
  ...call,
  on(manifest) {
    const { decode, ...rest } = call.on(manifest);
    return { ...rest, decode: (parts) => change(decode(parts)) };
  },
});
