// Tests read the answers of `fetch` as the DOM types them, and look into pages.
/// <reference lib="dom" />
