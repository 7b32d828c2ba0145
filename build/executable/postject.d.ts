declare module 'postject' {
  /** Puts a resource into an executable file, and sets the mark that says that there is one. */
  export function inject(
    file: string,
    resource: string,
    content: Buffer,
    options: { readonly sentinelFuse: string },
  ): Promise<void>;
}
