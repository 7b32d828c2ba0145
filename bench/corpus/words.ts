import type { Random } from './random.js';

const ONSETS = ['b', 'br', 'c', 'd', 'dr', 'f', 'g', 'gl', 'h', 'k', 'l', 'm', 'n', 'p', 'pr'];
const MORE_ONSETS = ['r', 's', 'st', 't', 'tr', 'v', 'w', 'z'];
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ou'];
const ENDINGS = ['', '', '', 'n', 'r', 's', 'l', 'nd', 'rk', 'st', 'm', 't'];

/** Common words in the paths of websites. */
const SITE_WORDS = [
  'about account admin ajax api archive article articles assets author basket blog cache cart',
  'catalog category cgi checkout class comment comments contact content css data docs download',
  'edit en de error event events export faq feed files forum gallery help home image images',
  'includes index info items job js json language lib list login logout mail map media member',
  'modules news newsletter order page pages panel partner photo plugin policy post preview print',
  'private product products profile promo public query recommend redirect register report review',
  'rss sale save script search section secure send service session share shop signup site sitemap',
  'sort source static store style subject support system tag tags task temp template test theme',
  'topic track update upload user users video view vote web widget wiki wishlist work xml',
]
  .join(' ')
  .split(' ');

/** Words for host names and paths: combined syllables, and words of websites among them. */
export function makeWords(random: Random, count: number): string[] {
  const onsets = [...ONSETS, ...MORE_ONSETS];
  const words = new Set(SITE_WORDS);
  while (words.size < count) {
    let word = '';
    const syllables = random.between(1, 3);
    for (let syllable = 0; syllable < syllables; syllable++) {
      word += random.pick(onsets) + random.pick(VOWELS);
    }
    words.add(word + random.pick(ENDINGS));
  }
  return [...words].slice(0, count);
}
