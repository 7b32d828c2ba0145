import { shownValue } from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import { CHAIN_SEPARATOR, tokenPrefix } from './agent.js';
import { agentsOf, type KnownAgent, listNames, OBEYS } from './known-agent.js';

/*
 * The built-in lists: a heading for each list, then a line for each agent with six columns:
 * published name, operator, source, date, what the operator says about robots.txt, description. A
 * colon ends the name of a crawler that disregards the groups of `*`. `--agents-file` replaces the
 * lists.
 *
 * The source is the operator's own documentation, an address or a word of `SOURCES`. Where an
 * operator documents nothing, it is a list under the MIT licence (see NOTICE), from which the token
 * and the operator were taken: ai-robots-txt/ai.robots.txt or monperrus/crawler-user-agents. The
 * descriptions are ours.
 */
const LISTS = `
@ai-training
GPTBot | OpenAI | openai | 2026-11-28 | yes | Collects pages that may train OpenAI's models.
ClaudeBot | Anthropic | anthropic | 2026-11-28 | yes | Collects pages that may train Anthropic's models.
anthropic-ai | Anthropic | ai.robots.txt | 2026-11-25 | unknown | An earlier token of Anthropic, still found in many files.
Claude-Web | Anthropic | ai.robots.txt | 2026-11-25 | unknown | An earlier token of Anthropic, still found in many files.
Google-Extended | Google | google-common | 2026-11-28 | yes | A token without a crawler: whether what Googlebot fetched may train and ground Gemini.
GoogleOther | Google | google-common | 2026-11-28 | yes | Fetches for research and development within Google.
GoogleOther-Image | Google | google-common | 2026-11-28 | yes | GoogleOther for images.
GoogleOther-Video | Google | google-common | 2026-11-28 | yes | GoogleOther for videos.
CCBot | Common Crawl | https://commoncrawl.org/ccbot | 2026-11-28 | yes | Builds a public archive of the web, which many models are trained on.
Bytespider | ByteDance | ai.robots.txt | 2026-11-25 | unknown | Collects pages for ByteDance's models.
TikTokSpider | ByteDance | ai.robots.txt | 2026-11-25 | unknown | Collects pages for TikTok.
meta-externalagent | Meta | meta | 2026-11-28 | yes | Collects pages that may train Meta's models, and indexes them.
FacebookBot | Meta | meta | 2026-11-28 | yes | Collects pages for models of speech recognition.
Applebot-Extended | Apple | https://support.apple.com/en-us/119829 | 2026-11-28 | yes | A token without a crawler: whether what Applebot fetched may train Apple's models.
Amazonbot | Amazon | amazon | 2026-11-28 | yes | Collects pages for Amazon's services, and may train Amazon's models.
cohere-training-data-crawler | Cohere | ai.robots.txt | 2026-11-25 | unknown | Collects pages that may train Cohere's models.
MistralAI-Training | Mistral AI | mistral | 2026-11-28 | yes | Collects pages that may train Mistral's models.
AI2Bot | Ai2 | https://allenai.org/crawler | 2026-11-28 | yes | Collects pages that train open language models.
ImagesiftBot | Hive | https://imagesift.com/about | 2026-11-28 | yes | Collects images for a search of images and for models.
ICC-Crawler | NICT | https://ucri.nict.go.jp/en/icccrawler.html | 2026-11-28 | yes | Collects pages for research on language.
img2dataset | img2dataset | https://github.com/rom1504/img2dataset | 2026-11-25 | unknown | A tool that downloads images to train models on.
Scrapy | Scrapy | https://docs.scrapy.org/en/latest/topics/settings.html | 2026-11-28 | unknown | A library for crawlers of any purpose. Whoever runs it decides whether it obeys robots.txt.
omgili | Webz.io | https://webz.io/bot.html | 2026-11-28 | yes | Collects forums and news, which are sold as data.
omgilibot | Webz.io | https://webz.io/bot.html | 2026-11-28 | yes | Collects forums and news, which are sold as data.
Webzio-Extended | Webz.io | https://webz.io/bot.html | 2026-11-25 | unknown | A token without a crawler: whether what Webz.io fetched may be sold to train models.
PanguBot | Huawei | ai.robots.txt | 2026-11-25 | unknown | Collects pages for Huawei's Pangu models.
VelenPublicWebCrawler | Velen | https://velen.io/ | 2026-11-28 | yes | Collects pages of businesses as data for models.
Kangaroo Bot | Kangaroo LLM | https://kangaroollm.com.au/kangaroo-bot/ | 2026-11-25 | unknown | Collects Australian pages to train a language model.
SBIntuitionsBot | SB Intuitions | https://www.sbintuitions.co.jp/bot/ | 2026-11-28 | yes | Collects pages that train Japanese language models.
Cotoyogi | ROIS | https://ds.rois.ac.jp/en_center8/en_crawler/ | 2026-11-28 | yes | Collects Japanese pages for research and models.
ChatGLM-Spider | Zhipu AI | ai.robots.txt | 2026-11-25 | unknown | Collects pages for the GLM models.
DeepSeekBot | DeepSeek | ai.robots.txt | 2026-11-25 | unknown | Collects pages for the DeepSeek models.

@ai-search
OAI-SearchBot | OpenAI | openai | 2026-11-28 | yes | Indexes pages that the search of ChatGPT links to.
Claude-SearchBot | Anthropic | anthropic | 2026-11-28 | yes | Indexes pages for the search of Claude.
PerplexityBot | Perplexity | https://docs.perplexity.ai/docs/resources/perplexity-crawlers | 2026-11-28 | yes | Indexes pages that answers of Perplexity link to.
MistralAI-Index | Mistral AI | mistral | 2026-11-28 | yes | Indexes pages for the search of Mistral.
Amzn-SearchBot | Amazon | amazon | 2026-11-28 | yes | Indexes pages for the search of Alexa and Rufus.
meta-webindexer | Meta | meta | 2026-11-28 | yes | Indexes pages for the search of Meta AI.
DuckAssistBot | DuckDuckGo | https://duckduckgo.com/duckduckgo-help-pages/results/duckassistbot | 2026-11-28 | yes | Fetches pages that answers of DuckAssist link to.
AzureAI-SearchBot | Microsoft | ai.robots.txt | 2026-11-25 | unknown | Indexes pages for searches on Azure.
YouBot | You.com | https://about.you.com/youbot/ | 2026-11-28 | yes | Indexes pages for answers of You.com.
Andibot | Andi | https://andisearch.com/ | 2026-11-25 | unknown | Indexes pages for answers of Andi.
PhindBot | Phind | ai.robots.txt | 2026-11-25 | unknown | Indexes pages for answers to programmers.
iAskBot | iAsk | ai.robots.txt | 2026-11-25 | unknown | Indexes pages for answers of iAsk.
iaskspider | iAsk | ai.robots.txt | 2026-11-25 | unknown | Indexes pages for answers of iAsk.
LinerBot | Liner | ai.robots.txt | 2026-11-25 | unknown | Indexes pages for answers of Liner.
TavilyBot | Tavily | ai.robots.txt | 2026-11-25 | unknown | Indexes pages for searches by agents.
Diffbot | Diffbot | https://docs.diffbot.com/docs/does-crawl-respect-robotstxt | 2026-11-28 | yes | Indexes pages for a graph of facts and for searches. Its operator says that it trains no models with them.
ExaSearchBot | Exa AI | ai.robots.txt | 2026-11-28 | unknown | Indexes pages for searches by programs.
ShapBot | Parallel | https://docs.parallel.ai/resources/crawler | 2026-11-28 | yes | Indexes pages for searches by programs.
TerraCotta | Ceramic AI | https://github.com/CeramicTeam/CeramicTerracotta | 2026-11-28 | yes | Indexes pages for searches by programs.
LinkupBot | Linkup | ai.robots.txt | 2026-11-28 | unknown | Indexes pages for searches by programs.
amazon-kendra | Amazon | https://docs.aws.amazon.com/kendra/latest/dg/stop-web-crawler.html | 2026-11-28 | yes | Indexes sites that a customer of Amazon Kendra named.
amazon-QBusiness | Amazon | https://docs.aws.amazon.com/amazonq/latest/business-use-dg/stop-web-crawler.html | 2026-11-28 | yes | Indexes sites that a customer of Amazon Q Business named.
bedrockbot | Amazon | https://docs.aws.amazon.com/bedrock/latest/userguide/webcrawl-data-source-connector.html | 2026-11-28 | yes | Indexes sites that a customer of Amazon Bedrock named.
atlassian-bot | Atlassian | https://support.atlassian.com/organization-administration/docs/connect-custom-website-to-rovo/ | 2026-11-28 | yes | Indexes sites that a customer of Rovo named.
YandexAdditional | Yandex | https://yandex.ru/support/webmaster/en/search-appearance/fast.html | 2026-11-28 | yes | Whether the answers of Yandex's assistant may use a page.
YandexAdditionalBot | Yandex | https://yandex.ru/support/webmaster/en/search-appearance/fast.html | 2026-11-28 | yes | Fetches pages for the answers of Yandex's assistant.

@ai-assistant
ChatGPT-User | OpenAI | openai | 2026-11-28 | user-triggered | Fetches a page because a user of ChatGPT asked.
Claude-User | Anthropic | anthropic | 2026-11-28 | yes | Fetches a page because a user of Claude asked.
Perplexity-User | Perplexity | https://docs.perplexity.ai/docs/resources/perplexity-crawlers | 2026-11-28 | user-triggered | Fetches a page because a user of Perplexity asked.
meta-externalfetcher | Meta | meta | 2026-11-28 | user-triggered | Fetches a page because a user of Meta's products asked.
MistralAI-User | Mistral AI | mistral | 2026-11-28 | yes | Fetches a page because a user of Le Chat asked.
Amzn-User | Amazon | amazon | 2026-11-28 | yes | Fetches a page because a user of Alexa asked.
NovaAct | Amazon | ai.robots.txt | 2026-11-28 | unknown | Visits pages to do what a user of Nova Act asked for.
AmazonBuyForMe | Amazon | ai.robots.txt | 2026-11-28 | unknown | Visits shops to buy what a customer of Amazon chose.
cohere-ai | Cohere | ai.robots.txt | 2026-11-25 | unknown | Fetches a page because a user of Cohere asked. Its operator documents nothing.
Gemini-Deep-Research | Google | ai.robots.txt | 2026-11-25 | unknown | Fetches pages for a report that a user of Gemini asked for.
Google-CloudVertexBot | Google | google-common | 2026-11-28 | yes | Fetches sites whose owners build an agent with Vertex AI.
Google-GeminiNotebook | Google | google-user | 2026-11-28 | user-triggered | Fetches a page that a user added to a notebook as a source.
Google-NotebookLM | Google | google-user | 2026-11-28 | user-triggered | An earlier name of Google-GeminiNotebook, still found in many files.
Google-Agent | Google | google-user | 2026-11-28 | user-triggered | Visits pages to do what a user asked an agent of Google to do.
Devin | Cognition | ai.robots.txt | 2026-11-25 | unknown | Fetches pages while it works for a user.
kagi-fetcher | Kagi | ai.robots.txt | 2026-11-25 | unknown | Fetches a page because a user of Kagi asked.
Diffbot-User | Diffbot | https://docs.diffbot.com/docs/does-crawl-respect-robotstxt | 2026-11-28 | user-triggered | Fetches a page because a user of Diffbot asked.
FirecrawlAgent | Firecrawl | ai.robots.txt | 2026-11-28 | unknown | Fetches pages as text for the programs of customers.
KlaviyoAIBot | Klaviyo | https://help.klaviyo.com/hc/en-us/articles/40496146232219 | 2026-11-28 | yes | Reads the sites of customers, so that an assistant can answer their visitors.

@search
Googlebot | Google | google-common | 2026-11-28 | yes | Indexes pages for Google Search.
Googlebot-Image | Google | google-common | 2026-11-28 | yes | Indexes images. Without a group of its own it obeys that of Googlebot.
Googlebot-News | Google | google-common | 2026-11-28 | yes | Indexes news. Without a group of its own it obeys that of Googlebot.
Googlebot-Video | Google | google-common | 2026-11-28 | yes | Indexes videos. Without a group of its own it obeys that of Googlebot.
Storebot-Google | Google | google-common | 2026-11-28 | yes | Reads shops for Google Shopping.
Google-InspectionTool | Google | google-common | 2026-11-28 | yes | Fetches a page that its owner tests.
bingbot | Microsoft | bing | 2026-11-28 | yes | Indexes pages for Bing.
msnbot | Microsoft | bing | 2026-11-28 | yes | The predecessor of bingbot, still found in many files.
Slurp | Yahoo | https://help.yahoo.com/kb/SLN22600.html | 2026-11-28 | unknown | Indexes pages for Yahoo.
DuckDuckBot | DuckDuckGo | https://duckduckgo.com/duckduckgo-help-pages/results/duckduckbot | 2026-11-28 | unknown | Indexes pages for DuckDuckGo.
Applebot | Apple | https://support.apple.com/en-us/119829 | 2026-11-28 | yes | Indexes pages for Siri and Spotlight. Without a group of its own it obeys that of Googlebot.
Yandex | Yandex | https://yandex.com/support/webmaster/en/robot-workings/user-agent | 2026-11-28 | yes | The token that crawlers of Yandex obey without a group of their own. Some obey only their own.
YandexBot | Yandex | https://yandex.com/support/webmaster/en/robot-workings/check-yandex-robots | 2026-11-28 | yes | Indexes pages for Yandex.
YandexImages | Yandex | https://yandex.com/support/webmaster/en/robot-workings/check-yandex-robots | 2026-11-28 | yes | Indexes images for Yandex.
Baiduspider | Baidu | https://help.baidu.com/question?prod_id=99&class=0&id=3001 | 2026-11-28 | unknown | Indexes pages for Baidu.
Baiduspider-image | Baidu | https://help.baidu.com/question?prod_id=99&class=0&id=3001 | 2026-11-28 | unknown | Indexes images for Baidu.
Sogou web spider | Sogou | http://www.sogou.com/docs/help/webmasters.htm | 2026-11-25 | unknown | Indexes pages for Sogou.
Yeti | Naver | https://searchadvisor.naver.com/ | 2026-11-28 | unknown | Indexes pages for Naver.
Daumoa | Kakao | http://cs.daum.net/ | 2026-11-25 | unknown | Indexes pages for Daum.
SeznamBot | Seznam.cz | https://o-seznam.cz/napoveda/vyhledavani/en/crawling-control | 2026-11-28 | yes | Indexes pages for Seznam.
Qwantify | Qwant | https://help.qwant.com/bot/ | 2026-11-25 | unknown | Indexes pages for Qwant.
Qwantbot | Qwant | https://help.qwant.com/bot/ | 2026-11-25 | unknown | Indexes pages for Qwant.
MojeekBot | Mojeek | https://www.mojeek.com/bot.html | 2026-11-28 | yes | Indexes pages for Mojeek.
PetalBot | Huawei | https://webmaster.petalsearch.com/site/petalbot | 2026-11-28 | yes | Indexes pages for Petal Search.
Bravebot | Brave | https://search.brave.com/help/brave-search-crawler | 2026-11-28 | yes | Indexes pages for Brave Search. It obeys the rules for Googlebot.
coccocbot-web | Cốc Cốc | https://help.coccoc.com/searchengine | 2026-11-25 | unknown | Indexes pages for Cốc Cốc.
Mail.RU_Bot | VK | https://help.mail.ru/webmaster/indexing/robots | 2026-11-28 | unknown | Indexes pages for Mail.ru.
SeekportBot | Seekport | https://bot.seekport.com/ | 2026-11-25 | unknown | Indexes pages for Seekport.
Timpibot | Timpi | https://timpi.io/ | 2026-11-25 | unknown | Indexes pages for Timpi.
YepBot | Ahrefs | https://yep.com/yepbot/ | 2026-11-28 | yes | Indexes pages for Yep.
Exabot | Dassault Systèmes | http://www.exabot.com/go/robot | 2026-11-28 | unknown | Indexed pages for Exalead. Exa AI's crawler for its search goes by the same name.
teoma | Ask.com | http://about.ask.com/docs/about/webmasters.shtml | 2026-11-25 | unknown | An earlier crawler of Ask, still found in many files.

@ads
AdsBot-Google: | Google | google-special | 2026-11-28 | yes | Checks the pages that advertisements lead to.
AdsBot-Google-Mobile: | Google | google-special | 2026-11-28 | yes | Checks the pages that advertisements lead to, as a phone shows them.
Mediapartners-Google: | Google | google-special | 2026-11-28 | yes | Reads pages to place fitting advertisements on them.
APIs-Google: | Google | google-special | 2026-11-28 | yes | Delivers push messages of Google's services. It is here with Google's other crawlers that disregard "*".
OAI-AdsBot | OpenAI | openai | 2026-11-28 | unknown | Checks the pages that advertisements in ChatGPT lead to.
AmazonAdBot | Amazon | https://adbot.amazon.com/index.html | 2026-11-28 | yes | Reads pages to place fitting advertisements on them.
YandexDirect | Yandex | https://yandex.com/support/partner2/technologies/robot.html | 2026-11-28 | yes | Reads pages to place fitting advertisements on them.
AdIdxBot | Microsoft | bing | 2026-11-28 | unknown | Checks the pages that advertisements on Bing lead to.

@social
facebookexternalhit | Meta | meta | 2026-11-28 | yes | Fetches what users share, to show a preview. It may bypass robots.txt in checks for malware.
Twitterbot | X Corp. | https://developer.x.com/cards/overview | 2026-11-28 | yes | Fetches what users share, to show a preview.
Pinterestbot | Pinterest | https://developers.pinterest.com/docs/reference/control-pinterestbot-access-to-your-site/ | 2026-11-28 | yes | Indexes the pages that pins lead to, and keeps the pins up to date.
LinkedInBot | LinkedIn | https://github.com/monperrus/crawler-user-agents | 2026-11-28 | unknown | Fetches what users share, to show a preview.
Slackbot-LinkExpanding | Slack | https://api.slack.com/robots | 2026-11-28 | unknown | Fetches what users share, to show a preview.
Slack-ImgProxy | Slack | https://api.slack.com/robots | 2026-11-28 | unknown | Fetches the images that users share.
Slackbot | Slack | https://api.slack.com/robots | 2026-11-28 | unknown | Sends what apps and users of Slack have set up.

@seo
AhrefsBot | Ahrefs | https://ahrefs.com/robot | 2026-11-28 | yes | Collects links for an index that is sold.
AhrefsSiteAudit | Ahrefs | https://ahrefs.com/robot/site-audit | 2026-11-28 | yes | Checks a site that a customer named.
SemrushBot | Semrush | semrush | 2026-11-28 | yes | Collects links for an index that is sold.
SiteAuditBot | Semrush | semrush | 2026-11-28 | yes | Checks a site that a customer named.
SemrushBot-BA | Semrush | semrush | 2026-11-28 | yes | Checks links to a site that a customer named.
SemrushBot-SA | Semrush | semrush | 2026-11-28 | yes | An earlier name of SiteAuditBot, still found in many files.
SemrushBot-SI | Semrush | semrush | 2026-11-28 | yes | Checks pages for their place in searches.
SemrushBot-SWA | Semrush | semrush | 2026-11-28 | yes | Checks texts for their place in searches.
SemrushBot-OCOB | Semrush | semrush | 2026-11-28 | yes | Collects texts for a writing tool.
SplitSignalBot | Semrush | semrush | 2026-11-28 | yes | Tests variants of a customer's pages.
MJ12bot | Majestic | https://mj12bot.com/ | 2026-11-28 | yes | Collects links for an index that is sold.
DotBot | Moz | https://moz.com/help/moz-procedures/crawlers/dotbot | 2026-11-28 | yes | Collects links for an index that is sold.
rogerbot | Moz | https://moz.com/help/moz-procedures/crawlers/rogerbot | 2026-11-28 | yes | Checks a site that a customer named.
BLEXBot | SE Ranking | https://help.seranking.com/en/blex-crawler | 2026-11-28 | unknown | Collects links for an index that is sold.
DataForSeoBot | DataForSEO | https://dataforseo.com/dataforseo-bot | 2026-11-28 | unknown | Collects links for an index that is sold.
serpstatbot | Serpstat | https://serpstatbot.com/ | 2026-11-28 | yes | Collects links for an index that is sold.
SEOkicks | SEOkicks | https://www.seokicks.de/robot.html | 2026-11-28 | unknown | Collects links for an index that is sold.
SISTRIX Crawler | SISTRIX | https://crawler.sistrix.net/ | 2026-11-25 | unknown | Collects pages and links for an index that is sold.
Barkrowler | Babbar | https://babbar.tech/crawler | 2026-11-28 | yes | Collects links for an index that is sold.
MegaIndex.ru | MegaIndex | https://megaindex.com/crawler | 2026-11-25 | unknown | Collects links for an index that is sold.
Screaming Frog SEO Spider | Screaming Frog | https://www.screamingfrog.co.uk/seo-spider/ | 2026-11-25 | unknown | A program that checks a site for whoever runs it.
XoviBot | Xovi | https://www.xovibot.net/ | 2026-11-25 | unknown | Collects links for an index that is sold.
SeobilityBot | Seobility | https://www.seobility.net/sites/bot.html | 2026-11-25 | unknown | Checks a site that a customer named.
spbot | OpenLinkProfiler | http://openlinkprofiler.org/bot | 2026-11-25 | unknown | Collects links for a public index.

@archive
ia_archiver | Internet Archive | archive.org | 2026-11-25 | unknown | The token of the Wayback Machine, formerly of Alexa.
archive.org_bot | Internet Archive | archive.org | 2026-11-25 | unknown | Archives pages for the Wayback Machine.
special_archiver | Internet Archive | archive.org | 2026-11-25 | unknown | Archives pages for partners of the Internet Archive.
heritrix | Internet Archive | https://github.com/internetarchive/heritrix3 | 2026-11-25 | unknown | The crawler that many libraries archive with.
Arquivo-web-crawler | Arquivo.pt | https://arquivo.pt/ | 2026-11-25 | unknown | Archives Portuguese pages.
bnf.fr_bot | Bibliothèque nationale de France | http://www.bnf.fr/en/tools/a.dl_web_capture_robot_special_eng.html | 2026-11-28 | no | Archives French pages by legal deposit.
bl.uk_lddc_bot | British Library | https://www.bl.uk/ | 2026-11-25 | unknown | Archives British pages by legal deposit.
ArchiveTeam ArchiveBot | Archive Team | https://wiki.archiveteam.org/index.php?title=Robots.txt | 2026-11-28 | no | Archives sites that volunteers named.
`;

/** The sources of several agents, by the word that stands for them in the lists. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ['ai.robots.txt', 'https://github.com/ai-robots-txt/ai.robots.txt'],
  ['amazon', 'https://developer.amazon.com/amazonbot'],
  ['anthropic', 'https://support.claude.com/en/articles/8896518'],
  ['archive.org', 'https://archive.org/details/archive.org_bot'],
  ['bing', 'https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0'],
  [
    'google-common',
    'https://developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers',
  ],
  [
    'google-special',
    'https://developers.google.com/crawling/docs/crawlers-fetchers/google-special-case-crawlers',
  ],
  [
    'google-user',
    'https://developers.google.com/crawling/docs/crawlers-fetchers/google-user-triggered-fetchers',
  ],
  ['meta', 'https://developers.facebook.com/docs/sharing/webmasters/web-crawlers'],
  ['mistral', 'https://docs.mistral.ai/en/robots'],
  ['openai', 'https://developers.openai.com/api/docs/bots'],
  ['semrush', 'https://www.semrush.com/bot/'],
]);

const COLUMNS = 6;

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
    const [asked = '', operator = '', source = '', date = '', said = '', description = ''] =
      columns;
    const obeys = OBEYS.find((each) => each === said);
    if (columns.length !== COLUMNS || obeys === undefined) {
      throw new Error(`not ${COLUMNS} columns with one of ${OBEYS.join(', ')}: ${line}`);
    }
    const [name = '', end] = asked.split(CHAIN_SEPARATOR);
    const token = tokenPrefix(name);
    agents.push({
      token,
      ...(token === name ? {} : { published: name }),
      operator,
      purpose,
      description,
      obeys,
      ...(end === undefined ? {} : { fallback: false }),
      source: SOURCES.get(source) ?? source,
      date,
    });
  }
  return agents;
}
