import "./prepare.mjs";

process.argv.splice(2, 0, "serve");
await import(new URL("../dist/cli/main.js", import.meta.url).href);
