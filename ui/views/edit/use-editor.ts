import { type Signal, useSignal } from "@preact/signals";
import { type ApiRequest, type Doc, type Problem, send } from "../../core/server/api.ts";
import { type Busy, useBusy } from "../../core/server/busy.ts";
import { jsonText, parseJson } from "../../core/server/json.ts";
import type { EditedKind } from "./kinds.ts";
import { type Read, readObject } from "./kinds.ts";

export type Effect = Doc<"ConfigurationEffect">;

/** A change that the server has checked. */
export interface Checked {
  readonly text: string;
  readonly truncates: boolean;
  readonly effect: Effect;
  /** The document parsed from the text. */
  readonly document: unknown;
}

export interface Editor {
  readonly text: Signal<string>;
  readonly truncates: Signal<boolean>;
  /** The state that the change applies to. Undefined for a new object. */
  readonly base: Signal<Read | undefined>;
  readonly checked: Signal<Checked | undefined>;
  readonly problem: Signal<Problem | undefined>;
  /** The newer state that another user has made. `gone` if the object was removed. */
  readonly conflict: Signal<Read | "gone" | undefined>;
  readonly isBusy: Busy["isBusy"];
  /** Returns the request that applies the change. Undefined if the text is not JSON, or lacks the name. */
  request(): ApiRequest | undefined;
  check(): Promise<void>;
  /** Applies the checked change. Resolves to the name. Undefined if the server refused the change. */
  apply(): Promise<string | undefined>;
  /** Makes the other user's state the `base`, and keeps the text. */
  rebase(): void;
}

/** Parses a text. Returns its document, or why it is invalid. */
export function parsed(text: string): { readonly document: unknown } | { readonly message: string } {
  try {
    return { document: parseJson<unknown>(text) };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the request that applies a text to an object. With an undefined `name` the text names the new object. */
function requestOf(
  kind: EditedKind,
  name: string | undefined,
  { text, truncates, base }: Pick<Editor, "text" | "truncates" | "base">,
): ApiRequest | undefined {
  const read = parsed(text.value);
  if ("message" in read) return undefined;
  const { document } = read;
  const given: unknown =
    typeof document === "object" && document !== null ? Reflect.get(document, kind.nameKey) : undefined;
  const own = name ?? (typeof given === "string" ? given : "");
  if (own === "") return undefined;
  const { tag } = base.value ?? { tag: null };
  return {
    method: "PUT",
    path: `${kind.collection}/${encodeURIComponent(own)}${truncates.value ? "?truncate=true" : ""}`,
    headers: tag === null ? { "If-None-Match": "*" } : { "If-Match": tag },
    body: document,
  };
}

/** The state of an editor for one object. `start` is undefined for a new object. */
export function useEditor(kind: EditedKind, name: string | undefined, start: Read | undefined): Editor {
  const text = useSignal(jsonText(start?.configuration ?? kind.template, 2));
  const truncates = useSignal(false);
  const base = useSignal(start);
  const checked = useSignal<Checked | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const conflict = useSignal<Read | "gone" | undefined>(undefined);
  const request = (): ApiRequest | undefined => requestOf(kind, name, { text, truncates, base });

  const { isBusy, run: runBusy } = useBusy(async (found) => {
    if (found.status !== 412 || name === undefined) problem.value = found;
    else conflict.value = await readObject(kind, name).catch(() => "gone" as const);
  });
  const run = (work: () => Promise<void>): Promise<void> => {
    problem.value = undefined;
    conflict.value = undefined;
    return runBusy(work);
  };

  return {
    text,
    truncates,
    base,
    checked,
    problem,
    conflict,
    isBusy,
    request,
    check: () =>
      run(async () => {
        checked.value = undefined;
        const sent = request();
        if (sent === undefined) return;
        const of = { text: text.value, truncates: truncates.value, document: sent.body };
        const path = `${sent.path}${sent.path.includes("?") ? "&" : "?"}dryRun=true`;
        checked.value = { ...of, effect: await send<Effect>({ ...sent, path }) };
      }),
    async apply() {
      const sent = request();
      let done: string | undefined;
      await run(async () => {
        if (sent === undefined) return;
        await send(sent);
        done = decodeURIComponent(sent.path.split("?")[0]?.split("/")[1] ?? "");
      });
      return done;
    },
    rebase() {
      const next = conflict.value;
      base.value = next === "gone" ? undefined : next;
      conflict.value = undefined;
      checked.value = undefined;
    },
  };
}
