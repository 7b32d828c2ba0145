/** A parsed robots.txt. */
export interface Robots {
  isAllowed(url: URL, text: string, agent: string): boolean;
}
