// biome-ignore-all lint/style/noDefaultExport: the files of undici are CommonJS modules, whose export is the default.
// undici's dispatchers, imported one by one. undici's main file would also load fetch, WebSocket, caches and mocks (7
// MiB per process), and would replace the dispatcher of Node's fetch.
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
