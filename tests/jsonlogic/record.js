// Write what json-logic-js answers into a file of lines: node tests/jsonlogic/record.js FOLDER_OF_JSON_LOGIC_JS FILE
"use strict";

const fs = require("fs");
const path = require("path");

const [folder, file] = process.argv.slice(2);
const jsonLogic = require(path.resolve(folder, "logic.js"));

function answer(rule, data) {
  let value;
  try {
    value = jsonLogic.apply(rule, data);
  } catch {
    return { nothing: "an exception" };
  }
  let nothing = "";
  JSON.stringify(value, (_key, each) => {
    if (typeof each === "number" && !Number.isFinite(each)) nothing = "NaN or Infinity";
    if (each === undefined) nothing = "undefined";
    return each;
  });
  if (value === undefined) nothing = "undefined";
  return nothing ? { nothing } : { result: value };
}

const lines = JSON.parse(fs.readFileSync(file, "utf8")).map(({ id, rule, data }) => ({ id, rule, data, ...answer(rule, data) }));
fs.writeFileSync(file, `[\n${lines.map((line) => JSON.stringify(line)).join(",\n")}\n]\n`);
