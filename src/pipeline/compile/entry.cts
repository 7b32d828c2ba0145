/** What Piscina loads in a thread that compiles; why it is CommonJS stands in workers/entry.cts. */
const loaded = import('./thread.js');

module.exports = async (part: import('../cache/cache.js').CachePart) =>
  (await loaded).default(part);
