/**
 * Returns a text without the characters `end` at its end. The expression `/x+$/` would be slow, because it is tried at
 * every run of these characters in the text.
 */
export function trimEndOf(text: string, end: string): string {
  let length = text.length;
  while (length > 0 && text[length - 1] === end) length--;
  return text.slice(0, length);
}
