// biome-ignore-all lint/style/noDefaultExport: the files of undici are CommonJS modules, whose export is the default.
// undici's dispatchers without the rest of the package: its main file also loads fetch, WebSocket, caches and mocks
// (7 MiB per process), and replaces the dispatcher of Node's own fetch.
declare module "undici/lib/dispatcher/client.js" {
  export { Client as default } from "undici";
}
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
declare module "undici/lib/dispatcher/proxy-agent.js" {
  export { ProxyAgent as default } from "undici";
}
declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  export { EnvHttpProxyAgent as default } from "undici";
}
declare module "undici/lib/api/api-connect.js" {
  import type { Dispatcher } from "undici";

  const connect: Dispatcher["connect"];
  export default connect;
}
declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici";

  const request: Dispatcher["request"];
  export default request;
}
