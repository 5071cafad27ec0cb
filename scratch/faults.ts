import { MapPictures } from "../bench/map-pictures.ts";
import { pngParts } from "../src/image/png-decode.ts";
import { inflateSync } from "node:zlib";
const p = await new MapPictures().of(1024,1024,"3");
const parts = pngParts(p) as any;
const size=(1024*3+1)*1024+1024;
for (let i=0;i<20;i++) inflateSync(parts.data[0],{chunkSize:size,maxOutputLength:size});
const a=process.resourceUsage().minorPageFault; let best=9e9; const ts=[];
for (let i=0;i<100;i++){const t=performance.now(); inflateSync(parts.data[0],{chunkSize:size,maxOutputLength:size}); const d=performance.now()-t; ts.push(d);}
ts.sort((x,y)=>x-y);
console.log("faults/inflate",(process.resourceUsage().minorPageFault-a)/100,"min",ts[0],"med",ts[50]);
