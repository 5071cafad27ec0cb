import type { Clock } from "../../lib/time/clock.ts";
import {
  type Question,
  type RenderedImage,
  type RenderRequest,
  type Source,
  SourceError,
  type UpstreamDocument,
} from "../source.ts";
import { dataOf, EMPTY } from "../tiles/tile-data.ts";
import { Failover } from "./failover.ts";
import { shownRequest } from "./hide-secrets.ts";
import { createHttpFetch } from "./http-fetch.ts";
import { infoOf, legendOf, maskOf, pictureOf, type UpstreamAnswer } from "./image-response.ts";
import { missingTilesOf } from "./missing-tile.ts";
import { asForm, type FormRequest } from "./query.ts";
import { addressesOf, type HttpSourceOptions, originOf, serversOf } from "./servers.ts";

/** The parts that a source gets from its process. */
export interface SourceParts {
  readonly clock: Clock;
  /** Called when this source finds that one of several servers is down, or is back. */
  readonly report: (origin: string, isUp: boolean) => void;
}

/**
 * Returns the addresses of requests for one kind of source. A SourceError thrown here fails a request before it is
 * sent.
 */
export interface HttpAddresses {
  picture(address: string, request: RenderRequest): URL;
  /** Whether requests are sent as forms. Absent: false. */
  readonly areForms?: boolean;
  /** Absent for a source that can only render pictures. */
  question?(address: string, question: Question): URL;
}

const UNDERSTAND = { feature_info: infoOf, legend: legendOf, mask: maskOf } as const;

function requestedType(question: Question): string {
  switch (question.kind) {
    case "feature_info":
      return question.infoFormat;
    case "legend":
      return question.format;
    case "mask":
      return "image/tiff";
  }
}

/** Creates a source over HTTP. The kinds of these sources differ only in their addresses. */
export function createHttpSource(
  options: HttpSourceOptions,
  addresses: HttpAddresses,
  { clock, report }: SourceParts,
): Source {
  const http = createHttpFetch(clock, options, serversOf(options));
  const mirrors = addressesOf(options);
  const failover = new Failover(
    mirrors,
    clock.monotonicNow,
    (address, isUp) => mirrors.length > 1 && report(originOf(options, address), isUp),
  );
  const tryAddresses = <T>(
    url: (address: string) => URL,
    signal: AbortSignal,
    understand: (answer: UpstreamAnswer) => T,
    accept?: string,
  ) =>
    failover.run((address) => {
      // The render has been cancelled, so the next address is not tried.
      if (signal.aborted) throw new SourceError("cancelled", "cancelled", { cause: signal.reason });
      return http.request(requestTo(url(address), address), signal, understand, accept);
    });
  const requestTo = (url: URL, address: string): FormRequest =>
    addresses.areForms === true ? asForm(url, address) : { url, form: undefined };
  const { question: questionAddress } = addresses;
  const missing = missingTilesOf(options);
  return {
    async render(request, signal, watch) {
      const { format } = request;
      let isSeen = false;
      const url = (address: string) => {
        const requested = addresses.picture(address, request);
        isSeen = false;
        watch?.requested(shownRequest(requested, address, options));
        return requested;
      };
      const seen = (answer: UpstreamAnswer): UpstreamAnswer => {
        // An answer that was not understood is looked at again without its secrets, which changes its length.
        if (!isSeen) watch?.answered(answer.status, answer.contentType, answer.body.byteLength);
        isSeen = true;
        return answer;
      };
      const understand = (answer: UpstreamAnswer): RenderedImage => {
        if (missing.isSaidBy(seen(answer))) return { kind: "none" };
        if (format.kind === "image") return { kind: "encoded", bytes: pictureOf(answer) };
        const bytes = dataOf(answer, format);
        if (bytes !== undefined) return { kind: "data", bytes };
        if (missing.areEmptyTiles) return { kind: "none" };
        throw new SourceError("empty", EMPTY);
      };
      const accept = format.kind === "image" ? undefined : `${format.contentType}, */*;q=0.1`;
      return tryAddresses(url, signal, understand, accept);
    },
    ...(questionAddress === undefined
      ? {}
      : {
          async query(question: Question, signal: AbortSignal): Promise<UpstreamDocument> {
            const understand = UNDERSTAND[question.kind];
            const { contentType, body } = await tryAddresses(
              (address) => questionAddress(address, question),
              signal,
              understand,
            );
            return { contentType: contentType === "" ? requestedType(question) : contentType, bytes: body };
          },
        }),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}
