import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AnswerReader, type HttpAnswer } from "./http-answer.ts";

const LIMIT = 100;

interface Read {
  readonly answer: HttpAnswer | undefined;
  readonly mayGoOn: boolean;
}

/** Feeds bytes to a reader, split at some positions. `isClosed`: the connection ends after them. */
function read(bytes: string, isClosed: boolean, ends: readonly number[] = []): Read {
  const reader = new AnswerReader(LIMIT);
  const all = Buffer.from(bytes, "latin1");
  let at = 0;
  for (const end of [...ends.filter((n) => n < all.byteLength).sort((a, b) => a - b), all.byteLength]) {
    const piece = all.subarray(at, end);
    at = end;
    if (piece.byteLength > 0) reader.push(piece);
  }
  const answer = isClosed ? reader.end() : reader.push(Buffer.alloc(0));
  return { answer, mayGoOn: reader.mayGoOn };
}

const said = ({ answer, mayGoOn }: Read): string =>
  answer === undefined ? "more" : `${answer.status} ${answer.body?.toString("latin1") ?? "too long"} ${mayGoOn}`;

const OK = "HTTP/1.1 200 OK\r\n";

const answers: readonly (readonly [what: string, bytes: string, open: string, closed?: string])[] = [
  ["a length", `${OK}Content-Length: 5\r\n\r\nhello`, "200 hello true", "200 hello false"],
  ["a length of nothing", `${OK}content-length:0\r\n\r\n`, "200  true", "200  false"],
  [
    "the same length twice",
    `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
    "200 hello true",
    "200 hello false",
  ],
  ["less than its length", `${OK}Content-Length: 6\r\n\r\nhello`, "more"],
  ["more than its length", `${OK}Content-Length: 4\r\n\r\nhello`, "200 hell false"],
  [
    "chunks",
    `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n`,
    "200 hello! true",
    "200 hello! false",
  ],
  [
    "chunks and trailers",
    `${OK}transfer-encoding: Chunked\r\n\r\n00A\r\n0123456789\r\n0\r\nA: b\r\n\r\n`,
    "200 0123456789 true",
    "200 0123456789 false",
  ],
  ["chunks without their end", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, "more"],
  ["chunks without their last line", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`, "more"],
  [
    "chunks and a length",
    `${OK}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    "200 hello false",
  ],
  ["no length", `${OK}\r\nhello`, "more", "200 hello false"],
  ["no length and nothing", `${OK}\r\n`, "more", "200  false"],
  ["a coding that does not tell its end", `${OK}Transfer-Encoding: gzip\r\n\r\nhello`, "more", "200 hello false"],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello false"],
  [
    "HTTP/1.0 that is kept",
    "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello",
    "200 hello true",
    "200 hello false",
  ],
  ["a connection that is closed", `${OK}Connection: foo, Close\r\nContent-Length: 5\r\n\r\nhello`, "200 hello false"],
  ["no words with the status", "HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nno", "404 no true", "404 no false"],
  ["no content", "HTTP/1.1 204 No Content\r\n\r\n", "204  true", "204  false"],
  [
    "not modified, with the length of what was not",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    "304  true",
    "304  false",
  ],
  [
    "answers before the answer",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
    "200 ok true",
    "200 ok false",
  ],
  [
    "lines without CR",
    "HTTP/1.1 200 OK\nContent-Length: 9\n\na\r\n\r\nb\n\nc",
    "200 a\r\n\r\nb\n\nc true",
    "200 a\r\n\r\nb\n\nc false",
  ],
  [
    "as much as is allowed",
    `${OK}Content-Length: ${LIMIT}\r\n\r\n${"x".repeat(LIMIT)}`,
    `200 ${"x".repeat(LIMIT)} true`,
    `200 ${"x".repeat(LIMIT)} false`,
  ],
  ["a length beyond what is allowed", `${OK}Content-Length: ${LIMIT + 1}\r\n\r\n`, "200 too long false"],
  ["a chunk beyond what is allowed", `${OK}Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n`, "200 too long false"],
  ["more than is allowed, without a length", `${OK}\r\n${"x".repeat(LIMIT + 1)}`, "200 too long false"],
];

describe.each(answers.map(([what, bytes, open, closed = open]) => ({ what, bytes, open, closed })))(
  "an answer with $what",
  ({ bytes, open, closed }) => {
    test("is read in one piece and in any pieces, on a connection that stays open and on one that does not", () => {
      expect(said(read(bytes, false))).toBe(open);
      expect(said(read(bytes, true))).toBe(closed);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length)), (ends) => {
          expect(said(read(bytes, false, ends))).toBe(open);
          expect(said(read(bytes, true, ends))).toBe(closed);
        }),
      );
      expect(
        said(
          read(
            bytes,
            true,
            Array.from(bytes, (__, n) => n),
          ),
        ),
      ).toBe(closed);
    });
  },
);

test("headers are known by their names in lower case, joined, unfolded and trimmed", () => {
  const { answer } = read(
    `${OK}Content-Type:\timage/png \r\nVia: a\r\nX-Folded: one\r\n  two\r\nVIA: b\r\nEmpty:\r\nContent-Length: 0\r\n\r\n`,
    false,
  );
  expect(Object.fromEntries(answer?.headers ?? [])).toEqual({
    "content-type": "image/png",
    via: "a, b",
    "x-folded": "one two",
    empty: "",
    "content-length": "0",
  });
});

test.each([
  ["", undefined],
  ["Keep-Alive: timeout=5, max=100\r\n", 5000],
  ["Keep-Alive: max=100,timeout=0\r\n", 0],
])("a server says how long it keeps a connection: %j", (field, keptMs) => {
  const reader = new AnswerReader(LIMIT);
  reader.push(Buffer.from(`${OK}${field}Content-Length: 0\r\n\r\n`));
  expect(reader.keptMs).toBe(keptMs);
});

const LONG = "x".repeat(70_000);

test.each([
  ["what is not HTTP", "SSH-2.0-OpenSSH_9.6\r\n\r\n"],
  ["HTTP/2", "HTTP/2 200\r\n\r\n"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a header without a name", `${OK}: x\r\n\r\n`],
  ["a header with a blank in its name", `${OK}Content Length: 5\r\n\r\n`],
  ["a header without a colon", `${OK}Content-Length\r\n\r\n`],
  ["a length that is none", `${OK}Content-Length: five\r\n\r\n`],
  ["a negative length", `${OK}Content-Length: -1\r\n\r\n`],
  ["two lengths", `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`],
  ["a chunk without a size", `${OK}Transfer-Encoding: chunked\r\n\r\nhello\r\n`],
  ["a chunk longer than its size", `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n`],
  ["a switch to another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\n\r\n"],
  ["headers without an end", `${OK}A: ${LONG}`],
  ["headers that are too long", `${OK}A: ${LONG}\r\n\r\n`],
  ["a line without an end", `${OK}Transfer-Encoding: chunked\r\n\r\n1;${LONG}`],
  ["trailers without an end", `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n${"A: b\r\n".repeat(20_000)}`],
])("%s is malformed", (_, bytes) => {
  expect(() => read(bytes, false)).toThrow(/answer|server/);
  expect(() => read(bytes, false, [1, 2, 20, 40])).toThrow(/answer|server/);
});

test("whatever comes, the reader tells an answer, wants more or calls it malformed, within its limit", () => {
  const parts = [
    "HTTP/1.1 ",
    "200",
    " OK",
    "\r\n",
    "\n",
    "Content-Length: ",
    "5",
    "Transfer-Encoding: chunked",
    "0",
    "x",
  ];
  const soup = fc.array(fc.oneof(fc.constantFrom(...parts), fc.string({ unit: "binary-ascii", maxLength: 5 })));
  fc.assert(
    fc.property(soup, fc.array(fc.nat(200)), (pieces, ends) => {
      try {
        const { answer } = read(pieces.join(""), true, ends);
        expect(answer?.body?.byteLength ?? 0).toBeLessThanOrEqual(LIMIT);
      } catch (error) {
        expect(error).toMatchObject({ code: "EPROTO" });
      }
    }),
    { numRuns: 2000 },
  );
});
