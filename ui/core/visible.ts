/**
 * Keeps a connection open while the page is visible. A browser opens six connections to a server for all of its pages
 * together (HTTP/1.1): streams of hidden pages would make the requests of the visible page wait.
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
