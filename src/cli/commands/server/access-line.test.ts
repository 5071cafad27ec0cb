import { expect, test } from "vitest";
import { parseAccessLine } from "./access-line.ts";

const TIME = "[10/Oct/2026:13:55:36 +0200]";

test.each([
  ["common", `127.0.0.1 - - ${TIME} "GET /a?b=c HTTP/1.0" 200 2326`, "/a?b=c", 200],
  [
    "combined",
    `2001:db8::1 - Ada Lovelace ${TIME} "GET /a HTTP/2.0" 304 0 "https://maps.example/?] \\"GET /x\\" 200" "Mozilla/5.0 (X11)"`,
    "/a",
    304,
  ],
  [
    "Apache's with the host before and times behind",
    `maps:443 10.0.0.7 - - ${TIME} "GET /a HTTP/1.1" 404 196 "-" "-" 1234`,
    "/a",
    404,
  ],
  ["of HTTP/0.9", `- - - ${TIME} "GET /a" 200 1`, "/a", 200],
  ["Apache's escapes", `- - - ${TIME} "GET /a\\"b\\\\c\\xc3\\xa4 HTTP/1.1" 200 1`, '/a"b\\cÃ¤', 200],
  ["nginx's escapes", `- - - ${TIME} "GET /a\\x22b\\x5Cc HTTP/1.1" 200 1`, '/a"b\\c', 200],
  ["the line end of Windows", `- - - ${TIME} "GET /a HTTP/1.1" 200\r`, undefined, undefined],
  ["no request", `- - - ${TIME} "-" 408 0`, undefined, undefined],
  ["what a scanner sent", `- - - ${TIME} "\\x16\\x03\\x01" 400 157`, undefined, undefined],
  ["an error log", "2026/10/10 13:55:36 [error] 31#31: *1 open() failed", undefined, undefined],
  ["JSON", '{"level":30,"msg":"listening"}', undefined, undefined],
  ["nothing", "", undefined, undefined],
])("%s", (_, line, target, status) => {
  expect(parseAccessLine(line)).toEqual(target === undefined ? undefined : { method: "GET", target, status });
});
