/**
 * Keeps a connection open while the page is visible. A browser opens six connections to a server for all of its pages
 * together (HTTP/1.1): streams of pages that nobody looks at would keep those that somebody looks at waiting.
 * @param open returns the function that closes the connection
 */
export function whileVisible(open: () => () => void): () => void {
  let close = document.hidden ? undefined : open();
  const change = (): void => {
    close?.();
    close = document.hidden ? undefined : open();
  };
  document.addEventListener("visibilitychange", change);
  return () => {
    document.removeEventListener("visibilitychange", change);
    close?.();
  };
}
