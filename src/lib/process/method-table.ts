import type { Port } from "./message.ts";

/**
 * How a method of another process is called. `call` waits for the answer. `until` is a `call` whose last argument is a
 * signal that also ends the call on the other side. `note` has no answer.
 */
export type Sending = "call" | "until" | "note";

type AnyMethod = (...args: never[]) => unknown;
/** The only fitting way to call a method of this type. */
type SendingOf<F> = F extends AnyMethod
  ? Parameters<F> extends readonly [...unknown[], AbortSignal]
    ? "until"
    : ReturnType<F> extends Promise<unknown>
      ? "call"
      : "note"
  : never;

/** The row of one method. `method` exists only for the compiler: it has the type of the method. */
export interface MethodRow<F> {
  readonly sending: SendingOf<F>;
  readonly method?: F;
}
/** The methods that one process offers to another. Arguments and answers must be structured-cloneable. */
export type MethodTable<T> = { readonly [K in keyof T]: MethodRow<T[K]> };
/** The methods of a table, as an interface. */
export type MethodsOf<T> = { readonly [K in keyof T]: T[K] extends MethodRow<infer F> ? F : never };

/** Describes a method of another process by its type. The type decides the `sending`. */
export const method = <F extends AnyMethod>(sending: SendingOf<F>): MethodRow<F> => ({ sending });

/** Calls methods of the other side by their names. `remoteMethods` gives the calls their types. */
export interface Calls {
  /** @throws the error of the other side, or the reason of `Channel.close` */
  call(method: string, args: readonly unknown[]): Promise<unknown>;
  /**
   * Calls a method that takes a signal last. When `signal` fires, the signal of the other side fires too.
   * @throws as `call`
   */
  callUntil(method: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown>;
  /** Calls a method without waiting for an answer. */
  note(method: string, args: readonly unknown[]): void;
}

/** Returns the methods of the other side as an object. */
export const remoteMethods = <T>(calls: Calls, table: MethodTable<T>): T =>
  mapTable(table, (name, sending) => {
    switch (sending) {
      case "call":
        return (...args) => calls.call(name, args);
      case "until":
        // The type of the method guarantees that its last argument is a signal.
        return (...args) => calls.callUntil(name, args.slice(0, -1), args.at(-1) as AbortSignal);
      case "note":
        return (...args) => calls.note(name, args);
    }
  });

/** The methods that have no answer. */
type Notes<T> = { readonly [K in keyof T as SendingOf<T[K]> extends "note" ? K : never]: T[K] };

/** Returns the methods without answer behind a port whose channel is elsewhere. */
export const notesTo = <T>(port: Pick<Port, "postMessage">, table: MethodTable<T>): Notes<T> =>
  mapTable(
    table,
    (method) =>
      (...args) =>
        port.postMessage({ kind: "note", method, args }),
  );

/**
 * Returns methods that call the methods of an object. The object is looked up at each call, because it is built later
 * than the channel. While there is no object, the methods do nothing and return undefined.
 */
export const localMethods = <T extends object>(target: () => NoInfer<T> | undefined, table: MethodTable<T>): T =>
  mapTable(table, (name) => (...args) => {
    const object = target();
    return object === undefined ? undefined : Reflect.apply(methodOf(object, name), object, args);
  });

/** Wraps the methods of an object in `around`, except for notes. */
export const aroundMethods = <T extends object>(
  object: NoInfer<T>,
  table: MethodTable<T>,
  around: (method: (...args: unknown[]) => unknown, name: string) => (...args: unknown[]) => unknown,
): T =>
  mapTable(table, (name, sending) => {
    const method = (...args: unknown[]): unknown => Reflect.apply(methodOf(object, name), object, args);
    return sending === "note" ? method : around(method, name);
  });

const methodOf = (object: object, name: string): ((...args: unknown[]) => unknown) => Reflect.get(object, name);

/** The names of `methodOf` are the keys of `T`, and the rows have its types: the compiler cannot follow that. */
const mapTable = <T, Mapped = T>(
  table: MethodTable<T>,
  methodFor: (name: string, sending: Sending) => (...args: unknown[]) => unknown,
): Mapped =>
  Object.fromEntries(
    Object.entries<{ readonly sending: Sending }>(table).map(([name, { sending }]) => [name, methodFor(name, sending)]),
  ) as Mapped;
