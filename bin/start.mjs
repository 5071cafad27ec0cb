import "./prepare.mjs";

process.argv.splice(2, 0, "serve");
await import(new URL("../dist/main.js", import.meta.url).href);
