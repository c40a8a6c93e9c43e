import { trustProject } from "../../src/config/trust.ts";

// One of several processes that record trust at the same time, each in 25 projects of its own.
for (let index = 0; index < 25; index++) {
  await trustProject({ directory: `/project-${process.argv[2]}-${index}`, items: [] });
}
