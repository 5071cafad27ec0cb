// Tests read the answers of `fetch` with the types of the DOM, and query pages.
/// <reference lib="dom" />
