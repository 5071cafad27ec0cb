import "./prepare.mjs";

process.argv.splice(2, 0, "serve");
await import(new URL("../dist/main.cjs", import.meta.url).href);
