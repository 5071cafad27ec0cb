import { expect, test } from "vitest";
import { bashText, readBashLine } from "./bash-line.ts";

const BREAKS = " \t\n\"'><=;|&(:";
const put = (line: string, word: string): string => bashText(word, readBashLine(line, BREAKS));

test("a line is split at blanks, quotes and backslashes are taken away", () => {
  expect(readBashLine(`n "a b" 'c'd\\ e f"g`, BREAKS)).toEqual({
    words: ["n", "a b", "cd e"],
    current: "fg",
    quote: '"',
    fixedLength: 0,
  });
  expect(readBashLine("n a ", BREAKS)).toEqual({ words: ["n", "a"], current: "", quote: undefined, fixedLength: 0 });
  expect(readBashLine("n ''", BREAKS)).toMatchObject({ words: ["n"], current: "", quote: undefined });
  expect(readBashLine("n --x=ws:ro", BREAKS)).toMatchObject({ current: "--x=ws:ro", fixedLength: 7 });
  expect(readBashLine("n ws:ro", "\n ")).toMatchObject({ current: "ws:ro", fixedLength: 0 });
});

test("what bash puts there begins behind its last word break, and is one word for it", () => {
  expect(put("n ws:ro", "ws:roads")).toBe("roads");
  expect(put("n --x=", "--x=a b")).toBe("a\\ b");
  expect(put("n 'ws:ro", "ws:ro ads")).toBe("ws:ro ads");
  expect(put('n "a', 'a"$')).toBe('a\\"\\$');
  expect(put("n 'a", "a'b")).toBe("a'\\''b");
  expect(put("n a", "a*(b)'")).toBe("a\\*\\(b\\)\\'");
});
