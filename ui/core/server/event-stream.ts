import { apiAddress } from "./base.ts";

const RECONNECT_MS = 2_000;

interface EventStream<K extends string> {
  /** Returns the query of the stream. */
  readonly query: () => URLSearchParams;
  readonly kinds: readonly K[];
  readonly take: (kind: K, event: MessageEvent<string>) => void;
  /** Called when the stream is open, and when it is lost. */
  readonly changed: (isOpen: boolean) => void;
}

/**
 * Receives events of the server until the returned function is called. The stream is open only while the page is visible:
 * a browser opens six connections to a server for all its pages (HTTP/1.1), so streams of hidden pages would block
 * requests of the visible page.
 */
export function listenWhileVisible<K extends string>({ query, kinds, take, changed }: EventStream<K>): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    clearTimeout(timer);
    source?.close();
  };
  const open = (): void => {
    source = new EventSource(apiAddress(`events?${query()}`));
    source.addEventListener("open", () => changed(true));
    source.addEventListener("error", () => {
      changed(false);
      // After a status other than 200 the browser does not reconnect.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, RECONNECT_MS);
    });
    for (const kind of kinds) source.addEventListener(kind, (event) => take(kind, event));
  };
  const follow = (): void => {
    close();
    if (!document.hidden) open();
  };
  follow();
  document.addEventListener("visibilitychange", follow);
  return () => {
    document.removeEventListener("visibilitychange", follow);
    close();
  };
}
