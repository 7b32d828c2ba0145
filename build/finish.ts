// The steps of the build after the kernel, one after another. They share a process, which takes
// longer to start than they take.
await import('./bundles.js');
await import('./embedded.js');
await import('./entries.js');
await import('./man-page.js');
await import('./replace-dist.js');
