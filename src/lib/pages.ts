/** Yields items in pages of this size; the last one may be smaller. */
export function* pagesOf<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let page: T[] = [];
  for (const item of items) {
    page.push(item);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
