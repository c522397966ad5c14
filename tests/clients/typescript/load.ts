// Uploads a file, plans, imports and waits, with the client that @hey-api/openapi-ts has made.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import { beginAnUpload, plan, sendAPart, showImport, startImport } from "./millrace-api";
import { client } from "./millrace-api/client.gen";

const { MILLRACE = "", TOKEN = "", FILE = "" } = process.env;

async function main() {
  client.setConfig({ baseUrl: MILLRACE, auth: () => TOKEN });
  const content = readFileSync(FILE);
  const begun = await beginAnUpload({
    headers: {
      "Tus-Resumable": "1.0.0",
      "Upload-Length": content.length,
      "Upload-Metadata": `filename ${btoa("orders.csv")}`,
    },
    throwOnError: true,
  });
  const file = basename(begun.response.headers.get("Location") ?? "");
  await sendAPart({
    path: { key: file },
    headers: { "Tus-Resumable": "1.0.0", "Upload-Offset": 0 },
    body: new Blob([content]),
    throwOnError: true,
  });

  const refused = await plan({ body: { file, target: "warehouse", table: "order" } });
  const wanted = { file, target: "warehouse", table: "orders" };
  const planned = await plan({ body: wanted, throwOnError: true });
  const started = await startImport({
    body: wanted,
    headers: { "Idempotency-Key": randomUUID() },
    throwOnError: true,
  });
  let report = started.data;
  const until = Date.now() + 90_000;
  while (report.outcome === null && report.job !== null && Date.now() < until) {
    await setTimeout(200);
    report = (await showImport({ path: { job: report.job }, throwOnError: true })).data;
  }
  console.log(JSON.stringify([refused.error?.code, planned.data.outcome, report.outcome, report.balanced]));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
