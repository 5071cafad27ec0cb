export type Call = {
  readonly kind: "call";
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** The method takes a signal after its arguments. */
  readonly cancellable: boolean;
};
export type Cancel = { readonly kind: "cancel"; readonly id: number };
export type Note = { readonly kind: "note"; readonly method: string; readonly args: readonly unknown[] };
export type CallAnswer =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | {
      readonly kind: "error";
      readonly id: number;
      readonly message: string;
      readonly stack: string | undefined;
      readonly code: string;
    };
/** A message between the two sides of a channel. */
export type Message = Call | Cancel | Note | CallAnswer;

const isId = (value: unknown): boolean => Number.isSafeInteger(value);
const isText = (value: unknown): boolean => typeof value === "string";

/** The fields of each kind of message, with checks of their values. The called methods check the arguments. */
const FIELDS: Readonly<Record<Message["kind"], Readonly<Record<string, (value: unknown) => boolean>>>> = {
  call: { id: isId, method: isText, args: Array.isArray, cancellable: (value) => typeof value === "boolean" },
  note: { method: isText, args: Array.isArray },
  cancel: { id: isId },
  answer: { id: isId },
  error: { id: isId, message: isText, stack: (value) => value === undefined || isText(value), code: isText },
};

/** Returns whether a value from another process is a message. */
export function isMessage(value: unknown): value is Message {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map(Object.entries(value));
  const checks = Object.entries(FIELDS).find(([kind]) => kind === fields.get("kind"))?.[1];
  return checks !== undefined && Object.entries(checks).every(([name, check]) => check(fields.get(name)));
}

/** One end of the connection below a channel. */
export type Port = {
  postMessage(message: Message): void;
  on(event: "message", listener: (message: Message) => void): unknown;
};

/** The other end of a process's IPC: a child or the parent. The child was forked with `serialization: "advanced"`. */
interface IpcProcess {
  send?(message: unknown, handle?: undefined, options?: undefined, done?: (error: Error | null) => void): boolean;
  on(event: "message", listener: (message: Message) => void): unknown;
}

/**
 * Returns the port of a process. Errors of sending are ignored: they mean that the other process has ended, and its
 * "exit" or "disconnect" event reports that.
 */
export const portOfProcess = (other: IpcProcess): Port => ({
  postMessage: (message) => void other.send?.(message, undefined, undefined, () => {}),
  on: (event, listener) => other.on(event, listener),
});
