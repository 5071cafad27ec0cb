const HTML: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/**
 * Escapes text for HTML, for content and quoted attributes. The result may contain non-ASCII characters, because HTML
 * is always sent as UTF-8.
 */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => HTML.get(c) ?? c);

/**
 * Escapes text for XML 1.0, for content and quoted attributes. The result is ASCII, because XML answers are sent
 * without a charset (`docs/reference/wire-format.md`, Bodies). White space other than the blank becomes a reference,
 * because attributes would lose it. Characters that XML does not allow (most control characters, half a surrogate pair)
 * become U+FFFD.
 */
export function escapeXml(text: string): string {
  return text.replace(/[^ !#$%(-;=?-~]/gu, (c) => {
    const named = HTML.get(c);
    if (named !== undefined) return named;
    const code = c.codePointAt(0) ?? 0xfffd;
    const allowed =
      code === 9 || code === 10 || code === 13 || (code >= 0x20 && code < 0xd800) || (code > 0xdfff && code < 0xfffe);
    return `&#${allowed || code > 0xffff ? code : 0xfffd};`;
  });
}

/**
 * Returns a JSON string in ASCII, quotes included: JSON answers are sent without a charset
 * (`docs/reference/wire-format.md`, Bodies).
 */
export const asciiJson = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
