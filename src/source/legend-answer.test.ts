import { expect, test } from "vitest";
import { legendOf } from "./http/image-response.ts";

const answer = (body: string, contentType = "", status = 200) => ({
  status,
  contentType,
  retryAfter: undefined,
  body: Buffer.from(body, "latin1"),
});

test("a legend is a picture or JSON; an exception, a page and nothing are failures with the upstream's words", () => {
  expect(legendOf(answer("\x89PNG and so on")).contentType).toBe("");
  expect(legendOf(answer('{"Legend":[]}', "application/json;charset=UTF-8")).body.byteLength).toBe(13);
  const failures: [ReturnType<typeof answer>, string, string][] = [
    [answer("<ServiceException>no such style</ServiceException>", "text/xml"), "exception", "no such style"],
    [answer("<html>moved</html>", "text/html"), "exception", "moved"],
    [answer(""), "empty", "the answer is empty"],
    [answer("gone", "text/plain", 404), "http_status", "status 404: gone"],
  ];
  for (const [given, failure, message] of failures)
    expect(() => legendOf(given)).toThrow(expect.objectContaining({ failure, message }));
});
