import { writeArchiveFiles } from './archives.js';

// The program of one process that writes its share of the files: DIRECTORY OPTIONS FIRST STEP.
const [directory, options, first, step] = process.argv.slice(2);
if (directory === undefined || options === undefined) throw new Error('arguments are missing');
const share = { first: Number(first), step: Number(step) };
process.stdout.write(JSON.stringify(writeArchiveFiles(directory, JSON.parse(options), share)));
