/**
 * Opens a connection whenever the page is visible. A browser opens six connections to a server for all its pages
 * (HTTP/1.1), so streams of hidden pages would block requests of the visible page.
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
