import { SourceError } from "../../source/source.ts";

const NOT_IN_TIME = "it was not answered in the time of all checks";

/** Returns the reason of a failed request, and the remedy. @throws an error that is not a SourceError */
export function adviceOn(error: unknown): string {
  if (!(error instanceof SourceError)) throw error;
  return `${error.failure === "cancelled" ? NOT_IN_TIME : error.message}: ${remedyFor(error)}`;
}

function remedyFor({ failure, message }: SourceError): string {
  switch (failure) {
    case "refused":
      return "start the map server, or correct the host and port of source.url";
    case "unknown_host":
      return "correct the host of source.url";
    case "timeout":
      return "check whether the map server is overloaded, or whether a firewall drops the connection";
    case "cancelled":
      return "fix the other problems, or check only this layer: nuthatch doctor LAYER";
    case "reset":
      return /EPROTO|SSL|TLS|CERT|SIGNED|VERIFY/i.test(message)
        ? "check http:// or https:// in source.url, and set source.ca for a certificate of your own authority"
        : "read the log of the map server";
    case "http_status":
      if (/status 40[13]\b/.test(message)) return "correct source.username and source.password, or source.headers";
      return "correct the path of source.url";
    case "exception":
    case "wrong_type":
      return "correct the part that the message names, or the path of source.url";
    case "server_error":
    case "busy":
    case "empty":
    case "no_tile":
    case "truncated":
    case "wrong_size":
    case "too_large":
    case "store":
      return "read the log of the map server";
  }
}
