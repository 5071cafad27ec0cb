/** Returns a text without the characters `end` at its end. `/x+$/` would be tried at each run of them, wherever it is. */
export function trimEndOf(text: string, end: string): string {
  let length = text.length;
  while (length > 0 && text[length - 1] === end) length--;
  return text.slice(0, length);
}
