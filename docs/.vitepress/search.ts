import type { DefaultTheme, MarkdownRenderer } from 'vitepress'
import { FOREIGN_OPTIONS } from '../../src/options/foreign-options.js'
import { rowsAsSections } from './option-rows.js'

/** What people who do not know the name of an option search for. */
const WORDS: Readonly<Record<string, string>> = {
  key: 'per user, per client, per IP, per API key, identify, tenant, getTracker',
  limits: 'several limits, multiple limits, nested limits',
  skip: 'exempt, exclude, ignore, bypass, health check',
  allow: 'allowlist, whitelist, whitelist an IP',
  block: 'blocklist, blacklist, denylist, ban an IP, ban IP, block an IP',
  onStoreError: 'Redis down, outage, fail open, fail closed',
  mode: 'dry run, shadow, monitor',
  onDenied: 'onLimited, response to a denied request, errorResponseBuilder',
  message: 'response body, error message',
  count: 'only failed, only successful, failed requests',
  window: 'per second, per minute, per hour, per day, timeWindow, ttl',
}

/** The same for pages, and for what their guides call otherwise. */
const WORDS_OF_PAGES: Readonly<Record<string, string>> = {
  'getting-started.md': 'install, installation, quickstart, quick start, set up, tutorial',
  'benchmarks.md': 'performance, overhead, fast, slow, speed, latency, throughput',
  'login.md': 'brute force, bruteforce, brute-force, credential stuffing, captcha, OTP, 2FA, one-time code',
  'overload.md':
    'load shedding, backpressure, too busy, 503, adaptive concurrency, circuit breaker, priority',
  'inspect.md': 'unblock, unban, reset a limit, reset limit, reset, release a client',
  'reliability.md': 'store down, Redis down',
  'headers.md': 'Retry-After, 429, too many requests',
  'keys.md': 'rate limit by email, by user, by tenant, IPv6',
  'policies.md': 'ban a user, algorithm, algorithms',
  'proxies.md': 'DDoS, wrong IP, wrong address',
  'fetch.md': 'nextjs, serverless, Lambda, Vercel, Netlify, edge',
  'troubleshooting.md': 'not working, does not work, problem, debug',
  'observability.md': 'logging, monitoring, alerts',
  'recipes.md': 'websocket, socket.io',
  'migrating/express-rate-limit.md': 'express-rate-limit, express rate limit',
}

/**
 * The search of the site. Rows of options come before guides, and guides before pages of the API reference.
 * An option is also found by the names that it has in other packages.
 */
export const SEARCH = {
  provider: 'local',
  options: {
    _render(source, env, md) {
      const words = WORDS_OF_PAGES[env.relativePath] ?? ''
      const html = withoutColors(md, () => md.render(source, env)).replace('</h1>', `</h1><p>${words}</p>`)
      if (env.frontmatter?.search === false) return ''
      return env.relativePath.startsWith('api/') ? html : rowsAsSections(html, wordsFor)
    },
    miniSearch: {
      searchOptions: {
        // Both functions run in the browser, without the rest of this file.
        /** Words that stand on every page, and in the names of packages, say little. */
        boostTerm: (term: string) =>
          /^(?:rate|limit|limits|limiter|limiting|by|a|an|the|to|for|of|in|on|with|is|how|my|not|use)$/i.test(
            term,
          )
            ? 0.3
            : 1,
        weights: { fuzzy: 0.1, prefix: 0.25 }, // nextjs is not nestjs
        boostDocument(id: string, _term: string, fields: { titles?: readonly string[] } = {}) {
          if (id.includes('/api/')) return 0.2
          if (id.includes('/options#option-')) return 3
          if (id.includes('#headgate_')) return 0.8 // a warning, whose name holds common words
          if (id.includes('/migrating/')) return fields.titles?.length === 0 ? 1.2 : 0.6
          return fields.titles?.length === 0 ? 2 : 1 // a page, or a section of one
        },
      },
    },
  },
} satisfies DefaultTheme.Config['search']

/** Has Markdown rendered without the colors of code, of which a search shows nothing. */
function withoutColors<T>({ options }: Pick<MarkdownRenderer, 'options'>, render: () => T): T {
  const { highlight } = options
  options.highlight = null
  try {
    return render()
  } finally {
    if (highlight !== undefined) options.highlight = highlight
  }
}

function wordsFor(option: string): string {
  const foreign = Object.entries(FOREIGN_OPTIONS).filter(([, fix]) => isFor(option, fix))
  return [...foreign.map(([name]) => name), WORDS[option] ?? ''].join(', ')
}

/** Whether a fix says to write this option. */
function isFor(option: string, fix: unknown): boolean {
  return fix === option || String(fix).startsWith(`Write ${option}`)
}
