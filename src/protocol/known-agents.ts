import { shownValue } from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import { tokenPrefix } from './agent.js';
import { agentsOf, type KnownAgent, listNames } from './known-agent.js';

/*
 * The built-in lists: a heading for each list, then a line for each agent with five columns:
 * published name, operator, source, date, description. `--agents-file` replaces them.
 *
 * The source is the operator's own documentation. Where an operator documents nothing, it is
 * ai-robots-txt/ai.robots.txt, a list under the MIT licence (see NOTICE), from which the token and
 * the operator were taken. The descriptions are ours.
 */
const LISTS = `
@ai-training
GPTBot | OpenAI | https://platform.openai.com/docs/bots | 2026-11-25 | Collects pages that may train OpenAI's models.
ClaudeBot | Anthropic | https://support.claude.com/en/articles/8896518 | 2026-11-25 | Collects pages that may train Anthropic's models.
anthropic-ai | Anthropic | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | An earlier token of Anthropic, still found in many files.
Claude-Web | Anthropic | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | An earlier token of Anthropic, still found in many files.
Google-Extended | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | A token without a crawler: whether what Googlebot fetched may train and ground Gemini.
GoogleOther | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | Fetches for research and development within Google.
GoogleOther-Image | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | GoogleOther for images.
GoogleOther-Video | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | GoogleOther for videos.
CCBot | Common Crawl | https://commoncrawl.org/ccbot | 2026-11-25 | Builds a public archive of the web, which many models are trained on.
Bytespider | ByteDance | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Collects pages for ByteDance's models.
TikTokSpider | ByteDance | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Collects pages for TikTok.
meta-externalagent | Meta | https://developers.facebook.com/docs/sharing/webmasters/web-crawlers | 2026-11-25 | Collects pages that may train Meta's models, and indexes them.
FacebookBot | Meta | https://developers.facebook.com/docs/sharing/webmasters/web-crawlers | 2026-11-25 | Collects pages for models of speech recognition.
Applebot-Extended | Apple | https://support.apple.com/en-us/119829 | 2026-11-25 | A token without a crawler: whether what Applebot fetched may train Apple's models.
Amazonbot | Amazon | https://developer.amazon.com/amazonbot | 2026-11-25 | Collects pages for Amazon's services and models.
cohere-training-data-crawler | Cohere | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Collects pages that may train Cohere's models.
Diffbot | Diffbot | https://docs.diffbot.com/ | 2026-11-25 | Turns pages into structured data, which is sold.
AI2Bot | Ai2 | https://allenai.org/crawler | 2026-11-25 | Collects pages that train open language models.
ImagesiftBot | Hive | https://imagesift.com/about | 2026-11-25 | Collects images for a search of images and for models.
ICC-Crawler | NICT | https://ucri.nict.go.jp/en/icccrawler.html | 2026-11-25 | Collects pages for research on language.
img2dataset | img2dataset | https://github.com/rom1504/img2dataset | 2026-11-25 | A tool that downloads images to train models on.
omgili | Webz.io | https://webz.io/bot.html | 2026-11-25 | Collects forums and news, which are sold as data.
omgilibot | Webz.io | https://webz.io/bot.html | 2026-11-25 | Collects forums and news, which are sold as data.
Webzio-Extended | Webz.io | https://webz.io/bot.html | 2026-11-25 | A token without a crawler: whether what Webz.io fetched may be sold to train models.
PanguBot | Huawei | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Collects pages for Huawei's Pangu models.
VelenPublicWebCrawler | Velen | https://velen.io/ | 2026-11-25 | Collects pages of businesses as data for models.
Kangaroo Bot | Kangaroo LLM | https://kangaroollm.com.au/kangaroo-bot/ | 2026-11-25 | Collects Australian pages to train a language model.
SBIntuitionsBot | SB Intuitions | https://www.sbintuitions.co.jp/bot/ | 2026-11-25 | Collects pages that train Japanese language models.
Cotoyogi | ROIS | https://ds.rois.ac.jp/en_center8/en_crawler/ | 2026-11-25 | Collects Japanese pages for research and models.
ChatGLM-Spider | Zhipu AI | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Collects pages for the GLM models.
DeepSeekBot | DeepSeek | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Collects pages for the DeepSeek models.

@ai-search
OAI-SearchBot | OpenAI | https://platform.openai.com/docs/bots | 2026-11-25 | Indexes pages that the search of ChatGPT links to.
Claude-SearchBot | Anthropic | https://support.claude.com/en/articles/8896518 | 2026-11-25 | Indexes pages for the search of Claude.
PerplexityBot | Perplexity | https://docs.perplexity.ai/guides/bots | 2026-11-25 | Indexes pages that answers of Perplexity link to.
Amzn-SearchBot | Amazon | https://developer.amazon.com/amazonbot | 2026-11-25 | Indexes pages for the search of Alexa and Rufus.
meta-webindexer | Meta | https://developers.facebook.com/docs/sharing/webmasters/web-crawlers | 2026-11-25 | Indexes pages for the search of Meta AI.
DuckAssistBot | DuckDuckGo | https://duckduckgo.com/duckduckgo-help-pages/results/duckassistbot | 2026-11-25 | Fetches pages that answers of DuckAssist link to.
AzureAI-SearchBot | Microsoft | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Indexes pages for searches on Azure.
YouBot | You.com | https://about.you.com/youbot/ | 2026-11-25 | Indexes pages for answers of You.com.
Andibot | Andi | https://andisearch.com/ | 2026-11-25 | Indexes pages for answers of Andi.
PhindBot | Phind | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Indexes pages for answers to programmers.
iAskBot | iAsk | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Indexes pages for answers of iAsk.
iaskspider | iAsk | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Indexes pages for answers of iAsk.
LinerBot | Liner | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Indexes pages for answers of Liner.
TavilyBot | Tavily | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Indexes pages for searches by agents.

@ai-assistant
ChatGPT-User | OpenAI | https://platform.openai.com/docs/bots | 2026-11-25 | Fetches a page because a user of ChatGPT asked.
Claude-User | Anthropic | https://support.claude.com/en/articles/8896518 | 2026-11-25 | Fetches a page because a user of Claude asked.
Perplexity-User | Perplexity | https://docs.perplexity.ai/guides/bots | 2026-11-25 | Fetches a page because a user of Perplexity asked. Its operator says that it mostly ignores robots.txt.
meta-externalfetcher | Meta | https://developers.facebook.com/docs/sharing/webmasters/web-crawlers | 2026-11-25 | Fetches a page because a user of Meta's products asked. Its operator says that it may bypass robots.txt.
MistralAI-User | Mistral AI | https://docs.mistral.ai/robots | 2026-11-25 | Fetches a page because a user of Le Chat asked.
Amzn-User | Amazon | https://developer.amazon.com/amazonbot | 2026-11-25 | Fetches a page because a user of Alexa asked.
cohere-ai | Cohere | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Fetches a page because a user of Cohere asked. Its operator documents nothing.
Gemini-Deep-Research | Google | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Fetches pages for a report that a user of Gemini asked for.
Google-CloudVertexBot | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | Fetches sites whose owners build an agent with Vertex AI.
Google-NotebookLM | Google | https://developers.google.com/search/docs/crawling-indexing/google-user-triggered-fetchers | 2026-11-25 | Fetches a page that a user added as a source.
Devin | Cognition | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Fetches pages while it works for a user.
kagi-fetcher | Kagi | https://github.com/ai-robots-txt/ai.robots.txt | 2026-11-25 | Fetches a page because a user of Kagi asked.

@search
Googlebot | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | Indexes pages for Google Search.
Googlebot-Image | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | Indexes images. Without a group of its own it obeys that of Googlebot.
Googlebot-News | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | Indexes news. Without a group of its own it obeys that of Googlebot.
Googlebot-Video | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | Indexes videos. Without a group of its own it obeys that of Googlebot.
Storebot-Google | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | Reads shops for Google Shopping.
Google-InspectionTool | Google | https://developers.google.com/search/docs/crawling-indexing/google-common-crawlers | 2026-11-25 | Fetches a page that its owner tests.
bingbot | Microsoft | https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0 | 2026-11-25 | Indexes pages for Bing.
msnbot | Microsoft | https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0 | 2026-11-25 | The predecessor of bingbot, still found in many files.
AdIdxBot | Microsoft | https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0 | 2026-11-25 | Checks the pages that advertisements on Bing lead to.
Slurp | Yahoo | https://help.yahoo.com/kb/SLN22600.html | 2026-11-25 | Indexes pages for Yahoo.
DuckDuckBot | DuckDuckGo | https://duckduckgo.com/duckduckgo-help-pages/results/duckduckbot | 2026-11-25 | Indexes pages for DuckDuckGo.
Applebot | Apple | https://support.apple.com/en-us/119829 | 2026-11-25 | Indexes pages for Siri and Spotlight. Without a group of its own it obeys that of Googlebot.
Yandex | Yandex | https://yandex.com/support/webmaster/robot-workings/check-yandex-robots.html | 2026-11-25 | The token that all crawlers of Yandex obey.
YandexBot | Yandex | https://yandex.com/support/webmaster/robot-workings/check-yandex-robots.html | 2026-11-25 | Indexes pages for Yandex.
YandexImages | Yandex | https://yandex.com/support/webmaster/robot-workings/check-yandex-robots.html | 2026-11-25 | Indexes images for Yandex.
Baiduspider | Baidu | https://help.baidu.com/question?prod_id=99&class=0&id=3001 | 2026-11-25 | Indexes pages for Baidu.
Baiduspider-image | Baidu | https://help.baidu.com/question?prod_id=99&class=0&id=3001 | 2026-11-25 | Indexes images for Baidu.
Sogou web spider | Sogou | http://www.sogou.com/docs/help/webmasters.htm | 2026-11-25 | Indexes pages for Sogou.
Yeti | Naver | https://searchadvisor.naver.com/ | 2026-11-25 | Indexes pages for Naver.
Daumoa | Kakao | http://cs.daum.net/ | 2026-11-25 | Indexes pages for Daum.
SeznamBot | Seznam.cz | https://napoveda.seznam.cz/en/seznamcz-web-crawler/ | 2026-11-25 | Indexes pages for Seznam.
Qwantify | Qwant | https://help.qwant.com/bot/ | 2026-11-25 | Indexes pages for Qwant.
Qwantbot | Qwant | https://help.qwant.com/bot/ | 2026-11-25 | Indexes pages for Qwant.
MojeekBot | Mojeek | https://www.mojeek.com/bot.html | 2026-11-25 | Indexes pages for Mojeek.
PetalBot | Huawei | https://aspiegel.com/petalbot | 2026-11-25 | Indexes pages for Petal Search.
Bravebot | Brave | https://search.brave.com/help/brave-search-crawler | 2026-11-25 | Indexes pages for Brave Search. It obeys the rules for Googlebot.
coccocbot-web | Cốc Cốc | https://help.coccoc.com/searchengine | 2026-11-25 | Indexes pages for Cốc Cốc.
Mail.RU_Bot | VK | https://help.mail.ru/webmaster/indexing/robots | 2026-11-25 | Indexes pages for Mail.ru.
SeekportBot | Seekport | https://bot.seekport.com/ | 2026-11-25 | Indexes pages for Seekport.
Timpibot | Timpi | https://timpi.io/ | 2026-11-25 | Indexes pages for Timpi.
YepBot | Ahrefs | https://yep.com/yepbot/ | 2026-11-25 | Indexes pages for Yep.
Exabot | Dassault Systèmes | http://www.exabot.com/go/robot | 2026-11-25 | Indexes pages for Exalead.
teoma | Ask.com | http://about.ask.com/docs/about/webmasters.shtml | 2026-11-25 | An earlier crawler of Ask, still found in many files.

@seo
AhrefsBot | Ahrefs | https://ahrefs.com/robot | 2026-11-25 | Collects links for an index that is sold.
AhrefsSiteAudit | Ahrefs | https://ahrefs.com/robot/site-audit | 2026-11-25 | Checks a site that a customer named.
SemrushBot | Semrush | https://www.semrush.com/bot/ | 2026-11-25 | Collects links for an index that is sold.
SiteAuditBot | Semrush | https://www.semrush.com/bot/ | 2026-11-25 | Checks a site that a customer named.
SemrushBot-BA | Semrush | https://www.semrush.com/bot/ | 2026-11-25 | Checks links to a site that a customer named.
SemrushBot-SA | Semrush | https://www.semrush.com/bot/ | 2026-11-25 | An earlier name of SiteAuditBot, still found in many files.
SemrushBot-SI | Semrush | https://www.semrush.com/bot/ | 2026-11-25 | Checks pages for their place in searches.
SemrushBot-SWA | Semrush | https://www.semrush.com/bot/ | 2026-11-25 | Checks texts for their place in searches.
SemrushBot-OCOB | Semrush | https://www.semrush.com/bot/ | 2026-11-25 | Collects texts for a writing tool.
SplitSignalBot | Semrush | https://www.semrush.com/bot/ | 2026-11-25 | Tests variants of a customer's pages.
MJ12bot | Majestic | https://mj12bot.com/ | 2026-11-25 | Collects links for an index that is sold.
DotBot | Moz | https://moz.com/help/moz-procedures/crawlers/dotbot | 2026-11-25 | Collects links for an index that is sold.
rogerbot | Moz | https://moz.com/help/moz-procedures/crawlers/rogerbot | 2026-11-25 | Checks a site that a customer named.
BLEXBot | SE Ranking | https://help.seranking.com/en/blex-crawler | 2026-11-25 | Collects links for an index that is sold.
DataForSeoBot | DataForSEO | https://dataforseo.com/dataforseo-bot | 2026-11-25 | Collects links for an index that is sold.
serpstatbot | Serpstat | https://serpstatbot.com/ | 2026-11-25 | Collects links for an index that is sold.
SEOkicks | SEOkicks | https://www.seokicks.de/robot.html | 2026-11-25 | Collects links for an index that is sold.
SISTRIX Crawler | SISTRIX | https://crawler.sistrix.net/ | 2026-11-25 | Collects pages and links for an index that is sold.
Barkrowler | Babbar | https://babbar.tech/crawler | 2026-11-25 | Collects links for an index that is sold.
MegaIndex.ru | MegaIndex | https://megaindex.com/crawler | 2026-11-25 | Collects links for an index that is sold.
Screaming Frog SEO Spider | Screaming Frog | https://www.screamingfrog.co.uk/seo-spider/ | 2026-11-25 | A program that checks a site for whoever runs it.
XoviBot | Xovi | https://www.xovibot.net/ | 2026-11-25 | Collects links for an index that is sold.
SeobilityBot | Seobility | https://www.seobility.net/sites/bot.html | 2026-11-25 | Checks a site that a customer named.
spbot | OpenLinkProfiler | http://openlinkprofiler.org/bot | 2026-11-25 | Collects links for a public index.

@archive
ia_archiver | Internet Archive | https://archive.org/details/archive.org_bot | 2026-11-25 | The token of the Wayback Machine, formerly of Alexa.
archive.org_bot | Internet Archive | https://archive.org/details/archive.org_bot | 2026-11-25 | Archives pages for the Wayback Machine.
special_archiver | Internet Archive | https://archive.org/details/archive.org_bot | 2026-11-25 | Archives pages for partners of the Internet Archive.
heritrix | Internet Archive | https://github.com/internetarchive/heritrix3 | 2026-11-25 | The crawler that many libraries archive with.
Arquivo-web-crawler | Arquivo.pt | https://arquivo.pt/ | 2026-11-25 | Archives Portuguese pages.
bnf.fr_bot | Bibliothèque nationale de France | https://www.bnf.fr/ | 2026-11-25 | Archives French pages by legal deposit.
bl.uk_lddc_bot | British Library | https://www.bl.uk/ | 2026-11-25 | Archives British pages by legal deposit.
ArchiveTeam ArchiveBot | Archive Team | https://wiki.archiveteam.org/index.php/ArchiveBot | 2026-11-25 | Archives sites that volunteers named.
`;

const COLUMNS = 5;

let known: readonly KnownAgent[] | undefined;

/**
 * The agents of the built-in lists that the command line knows as `@ai-training` and the like.
 *
 * @param list the name of a list, with or without `@`. Default: all lists, one after another
 * @throws RobotsFilterError `usage` if there is no such list
 */
export function knownAgents(list?: string): readonly KnownAgent[] {
  known ??= Object.freeze(parseLists(LISTS));
  if (list === undefined) return known;
  const isName = typeof list === 'string';
  const found = isName ? agentsOf(known, list.startsWith('@') ? list.slice(1) : list) : undefined;
  if (found !== undefined) return found;
  const remedy = `Use one of ${listNames(known).join(', ')}`;
  throw new RobotsFilterError('usage', `the list of agents is ${shownValue(list)}. ${remedy}`);
}

function parseLists(lists: string): KnownAgent[] {
  const agents: KnownAgent[] = [];
  let purpose = '';
  for (const line of lists.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('@')) {
      purpose = line.slice(1);
      continue;
    }
    const columns = line.split(' | ');
    const [name = '', operator = '', source = '', date = '', description = ''] = columns;
    if (columns.length !== COLUMNS) throw new Error(`not ${COLUMNS} columns: ${line}`);
    const token = tokenPrefix(name);
    const published = token === name ? {} : { published: name };
    agents.push({ token, ...published, operator, purpose, description, source, date });
  }
  return agents;
}
