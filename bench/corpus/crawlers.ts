/**
 * Product tokens of crawlers that gather text for language models. Many files disallow them by
 * name.
 */
export const MODEL_CRAWLERS: readonly string[] = [
  'GPTBot',
  'CCBot',
  'ChatGPT-User',
  'Google-Extended',
  'anthropic-ai',
  'ClaudeBot',
  'PerplexityBot',
  'Bytespider',
  'Applebot-Extended',
  'Amazonbot',
];

/** Product tokens of search engines, archives and link sellers, which have their own groups. */
export const OTHER_CRAWLERS: readonly string[] = [
  'Googlebot',
  'Bingbot',
  'MJ12bot',
  'AhrefsBot',
  'SemrushBot',
  'Baiduspider',
  'YandexBot',
  'AdsBot-Google',
  'Mediapartners-Google',
  'Twitterbot',
  'DotBot',
  'PetalBot',
  'Applebot',
  'ia_archiver',
  'Googlebot-Image',
  'Slurp',
];
