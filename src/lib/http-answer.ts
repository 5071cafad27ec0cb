/** The answer violates HTTP/1.1 (RFC 9112). */
export class MalformedAnswer extends Error {
  readonly code = "EPROTO";
}

export interface HttpAnswer {
  readonly status: number;
  /** Header values by name in lower case. The values of a repeated header are joined by ", " (RFC 9110, 5.2). */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined: the body is longer than the limit, and was not read to its end. */
  readonly body: Buffer | undefined;
}

/** Limits the status line and headers together, the trailers, and the size line of a chunk, in bytes. */
const LONGEST_HEAD = 64 * 1024;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;
const CHUNK_SIZE = /^([\da-f]{1,12})[ \t]*(?:;|$)/i;
const NOTHING = Buffer.alloc(0);
/** Up to this Content-Length, in bytes, the memory for the body is allocated at once. A larger length may be a lie. */
const READILY_BELIEVED = 1024 * 1024;

/** How the end of a body is known (RFC 9112, 6.3). */
type Framing =
  | { readonly kind: "length"; left: number }
  /**
   * `left` counts the remaining bytes of the current chunk and of the line end after it. Undefined: the size of the
   * next chunk has not been read.
   */
  | { readonly kind: "chunked"; left: number | undefined }
  | { readonly kind: "trailers" }
  /** The body ends when the server closes the connection. */
  | { readonly kind: "close" };

/** Reads one answer to a GET or a POST from the bytes of its connection, as they come (RFC 9112). */
export class AnswerReader {
  readonly #limit: number;
  #status = 0;
  #isOneDotOne = true;
  #headers: Map<string, string> | undefined;
  #framing: Framing | undefined;
  /** Bytes of a head or of a line whose end has not arrived. */
  #rest: Buffer = NOTHING;
  #trailerBytes = 0;
  /** The parts of the body, or the memory that it is copied to. */
  #body: Buffer[] | Buffer = [];
  #bodyBytes = 0;
  #whole: HttpAnswer | undefined;
  #mayGoOn = false;

  /** `limit`: the largest body, in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The status code of the answer. Undefined: the end of the head has not arrived. */
  get status(): number | undefined {
    return this.#headers === undefined ? undefined : this.#status;
  }

  /** Whether bytes of the answer have arrived. */
  get hasBegun(): boolean {
    return this.#headers !== undefined || this.#rest.byteLength > 0;
  }

  /** Whether the connection can be used for another request. */
  get mayGoOn(): boolean {
    return this.#mayGoOn;
  }

  /** How long the server keeps an idle connection, in ms. Undefined: the server does not say (RFC 2068, 19.7.1). */
  get keptMs(): number | undefined {
    const seconds = /(?:^|[,\s])timeout=(\d{1,9})/i.exec(this.#headers?.get("keep-alive") ?? "")?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  }

  /**
   * Reads a piece of the answer, and returns the answer when it is complete. The caller may overwrite `chunk`
   * afterwards.
   * @throws MalformedAnswer
   */
  push(chunk: Buffer): HttpAnswer | undefined {
    let rest: Buffer | undefined = chunk;
    while (rest !== undefined && this.#whole === undefined) rest = this.#step(rest);
    // Bytes after the end of the answer belong to no request: do not use the connection again.
    if (rest !== undefined && rest.byteLength > 0) this.#mayGoOn = false;
    return this.#whole;
  }

  /** Reports that the server has closed the connection in order. Returns undefined when the answer is not complete. */
  end(): HttpAnswer | undefined {
    if (this.#framing?.kind === "close") this.#finish();
    this.#mayGoOn = false;
    return this.#whole;
  }

  /** Reads one part of the answer, and returns the unread bytes. Undefined: all bytes have been read. */
  #step(chunk: Buffer): Buffer | undefined {
    const framing = this.#framing;
    switch (framing?.kind) {
      case undefined:
        return this.#readHead(chunk);
      case "length":
      case "close":
        return this.#readBody(chunk, framing);
      case "chunked":
        return framing.left === undefined
          ? this.#readSize(chunk, framing)
          : this.#readChunk(chunk, framing, framing.left);
      case "trailers":
        return this.#readTrailer(chunk);
    }
  }

  #readHead(chunk: Buffer): Buffer | undefined {
    const bytes = this.#withRest(chunk);
    const end = endOfHead(bytes);
    if ((end?.at ?? bytes.byteLength) > LONGEST_HEAD) throw new MalformedAnswer("the head of the answer is too long");
    if (end === undefined) {
      this.#rest = Buffer.from(bytes);
      return undefined;
    }
    const [line = "", ...fields] = bytes.toString("latin1", 0, end.at).split(/\r?\n/);
    const [, minor, status] = STATUS_LINE.exec(line) ?? [];
    if (status === undefined) throw new MalformedAnswer("the answer does not begin as one of HTTP/1.1");
    const body = bytes.subarray(end.bodyAt);
    this.#status = Number(status);
    // Interim answers (1xx) contain nothing that the client needs (RFC 9110, 15.2).
    if (this.#status < 200 && this.#status !== 101) return body;
    this.#isOneDotOne = minor === "1";
    this.#headers = headersOf(fields);
    this.#frame(this.#headers);
    return body;
  }

  #frame(headers: ReadonlyMap<string, string>): void {
    if (this.#status === 101) throw new MalformedAnswer("the server has switched protocols");
    const connection = (headers.get("connection") ?? "").toLowerCase();
    const isStored = this.#isOneDotOne
      ? !/(^|[,\s])close([,\s]|$)/.test(connection)
      : connection.includes("keep-alive");
    const coding = headers.get("transfer-encoding");
    const length = headers.get("content-length");
    // With both headers the end of the body is ambiguous: bytes after it must not be read as the next answer (RFC 9112,
    // 6.3).
    this.#mayGoOn = isStored && (coding === undefined || length === undefined);
    if (this.#status === 204 || this.#status === 304) {
      this.#finish();
    } else if (coding !== undefined) {
      const isChunked = /(^|[,\s])chunked\s*$/i.test(coding);
      this.#framing = isChunked ? { kind: "chunked", left: undefined } : { kind: "close" };
    } else if (length !== undefined) {
      const left = lengthOf(length);
      this.#framing = { kind: "length", left };
      if (left <= Math.min(READILY_BELIEVED, this.#limit)) this.#body = Buffer.allocUnsafeSlow(left);
      if (left > this.#limit) this.#tooLong();
      else if (left === 0) this.#finish();
    } else this.#framing = { kind: "close" };
    if (this.#framing?.kind === "close") this.#mayGoOn = false;
  }

  #readBody(chunk: Buffer, framing: Extract<Framing, { readonly kind: "length" | "close" }>): Buffer | undefined {
    if (framing.kind === "close") {
      this.#take(chunk);
      return undefined;
    }
    const taken = chunk.subarray(0, framing.left);
    framing.left -= taken.byteLength;
    this.#take(taken);
    if (framing.left === 0) this.#finish();
    return chunk.byteLength > taken.byteLength ? chunk.subarray(taken.byteLength) : undefined;
  }

  #readSize(chunk: Buffer, framing: Extract<Framing, { readonly kind: "chunked" }>): Buffer | undefined {
    const { line, rest } = this.#readLine(chunk);
    if (line === undefined) return undefined;
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new MalformedAnswer("a chunk of the answer has no size");
    const bytes = Number.parseInt(size, 16);
    if (bytes === 0) this.#framing = { kind: "trailers" };
    else if (this.#bodyBytes + bytes > this.#limit) this.#tooLong();
    else framing.left = bytes + 2;
    return rest;
  }

  /** `left` includes the line end after the chunk. */
  #readChunk(chunk: Buffer, framing: Extract<Framing, { readonly kind: "chunked" }>, left: number): Buffer | undefined {
    const data = chunk.subarray(0, Math.max(0, left - 2));
    this.#take(data);
    const end = chunk.subarray(data.byteLength, left);
    const expected = left - data.byteLength === 1 ? "\n" : "\r\n";
    if (end.byteLength > 0 && !expected.startsWith(end.toString("latin1")))
      throw new MalformedAnswer("a chunk of the answer is longer than its size");
    const taken = data.byteLength + end.byteLength;
    framing.left = taken === left ? undefined : left - taken;
    return chunk.byteLength > taken ? chunk.subarray(taken) : undefined;
  }

  /** Skips the fields after the last chunk. */
  #readTrailer(chunk: Buffer): Buffer | undefined {
    const { line, rest } = this.#readLine(chunk);
    if (line === undefined) return undefined;
    this.#trailerBytes += line.length;
    if (this.#trailerBytes > LONGEST_HEAD) throw new MalformedAnswer("the trailers of the answer are too long");
    if (line === "") this.#finish();
    return rest;
  }

  #readLine(chunk: Buffer): { readonly line: string | undefined; readonly rest: Buffer | undefined } {
    const bytes = this.#withRest(chunk);
    const end = bytes.indexOf(0x0a);
    if ((end < 0 ? bytes.byteLength : end) > LONGEST_HEAD)
      throw new MalformedAnswer("a line of the answer is too long");
    if (end < 0) {
      this.#rest = Buffer.from(bytes);
      return { line: undefined, rest: undefined };
    }
    const line = bytes.toString("latin1", 0, end).replace(/\r$/, "");
    return { line, rest: end + 1 < bytes.byteLength ? bytes.subarray(end + 1) : undefined };
  }

  #withRest(chunk: Buffer): Buffer {
    const bytes = this.#rest.byteLength === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = NOTHING;
    return bytes;
  }

  #take(data: Buffer): void {
    if (data.byteLength === 0) return;
    const at = this.#bodyBytes;
    this.#bodyBytes += data.byteLength;
    if (this.#bodyBytes > this.#limit) this.#tooLong();
    else if (Array.isArray(this.#body)) this.#body.push(Buffer.from(data));
    else this.#body.set(data, at);
  }

  #tooLong(): void {
    this.#mayGoOn = false;
    this.#tell(undefined);
  }

  #finish(): void {
    this.#tell(Array.isArray(this.#body) ? Buffer.concat(this.#body, this.#bodyBytes) : this.#body);
  }

  #tell(body: Buffer | undefined): void {
    this.#whole ??= { status: this.#status, headers: this.#headers ?? new Map(), body };
  }
}

/** Finds the empty line that ends the head. A line end may lack its CR (RFC 9112, 2.2). */
function endOfHead(bytes: Buffer): { readonly at: number; readonly bodyAt: number } | undefined {
  const withReturn = bytes.indexOf("\n\r\n");
  const head = withReturn < 0 ? bytes : bytes.subarray(0, withReturn);
  const without = head.indexOf("\n\n");
  if (without >= 0) return { at: without, bodyAt: without + 2 };
  return withReturn < 0 ? undefined : { at: withReturn, bodyAt: withReturn + 3 };
}

function headersOf(fields: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  let last: string | undefined;
  for (const field of fields) {
    // A line that begins with white space continues the value before it (RFC 9112, 5.2).
    if (last !== undefined && /^[ \t]/.test(field)) {
      headers.set(last, `${headers.get(last) ?? ""} ${field.trim()}`);
      continue;
    }
    const colon = field.indexOf(":");
    const name = field.slice(0, Math.max(colon, 0));
    if (!TOKEN.test(name)) {
      if (field.trim() === "") continue;
      throw new MalformedAnswer("a header of the answer has no name");
    }
    last = name.toLowerCase();
    const value = field.slice(colon + 1).trim();
    const before = headers.get(last);
    headers.set(last, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** Parses a Content-Length. Repetitions of the same length count as one (RFC 9110, 8.6). */
function lengthOf(value: string): number {
  const [first = "", ...others] = value.split(",").map((text) => text.trim());
  if (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first))
    throw new MalformedAnswer("the answer has no length that can be read");
  return Number(first);
}
