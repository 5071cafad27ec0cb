import { type Question, type RenderRequest, type Source, SourceError, type UpstreamDocument } from "../source.ts";
import { dataOf } from "../tiles/tile-data.ts";
import { Failover } from "./failover.ts";
import { createHttpFetch } from "./http-fetch.ts";
import { infoOf, legendOf, pictureOf, type UpstreamAnswer } from "./image-response.ts";
import { addressesOf, type HttpSourceOptions, originOf, serversOf } from "./servers.ts";

/** Told of each of several servers when it goes down and when it is back, as far as this source has seen. */
export type TellHealth = (origin: string, isUp: boolean) => void;

/** Where a kind of source finds things at one of the configured addresses; a SourceError fails before anything is sent. */
export interface HttpAddresses {
  picture(address: string, request: RenderRequest): URL;
  /** Absent: such a source knows pictures only. */
  question?(address: string, question: Question): URL;
}

/** A source over HTTP: its kinds differ only in their addresses. */
export function createHttpSource(options: HttpSourceOptions, addresses: HttpAddresses, tell?: TellHealth): Source {
  const http = createHttpFetch(options, serversOf(options));
  const mirrors = addressesOf(options);
  const failover = new Failover(
    mirrors,
    () => performance.now(),
    (address, isUp) => mirrors.length > 1 && tell?.(originOf(options, address), isUp),
  );
  const ask = <T>(
    url: (address: string) => URL,
    signal: AbortSignal,
    understand: (answer: UpstreamAnswer) => T,
    accept?: string,
  ) =>
    failover.run((address) => {
      // Nothing is asked of the next address for a render that nobody wants any more.
      if (signal.aborted) throw new SourceError("cancelled", "cancelled", { cause: signal.reason });
      return http.ask(url(address), signal, understand, accept);
    });
  const { question: placeOf } = addresses;
  return {
    async render(request, signal) {
      const { format } = request;
      const url = (address: string) => addresses.picture(address, request);
      if (format.kind === "image") return { kind: "encoded", bytes: await ask(url, signal, pictureOf) };
      const accept = `${format.contentType}, */*;q=0.1`;
      return { kind: "data", bytes: await ask(url, signal, (answer) => dataOf(answer, format), accept) };
    },
    ...(placeOf === undefined
      ? {}
      : {
          async ask(question: Question, signal: AbortSignal): Promise<UpstreamDocument> {
            const isLegend = question.kind === "legend";
            const understand = isLegend ? legendOf : infoOf;
            const { contentType, body } = await ask((address) => placeOf(address, question), signal, understand);
            const asked = isLegend ? question.format : question.infoFormat;
            return { contentType: contentType === "" ? asked : contentType, bytes: body };
          },
        }),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}
