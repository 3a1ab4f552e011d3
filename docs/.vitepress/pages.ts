import { readdirSync } from 'node:fs'

/**
 * A group of the sidebar: the paths of its pages, without `.md` and `index.md`, and what the sidebar calls
 * them.
 */
export interface Group {
  readonly text: string
  readonly pages: Readonly<Record<string, string>>
}

/** All pages of `docs/` but the home page, in the order in which a reader meets them. */
export const GROUPS: readonly Group[] = [
  {
    text: 'Start',
    pages: {
      'getting-started': 'Getting started',
      'choosing-numbers': 'Choosing numbers',
      'production-checklist': 'Production checklist',
      troubleshooting: 'Troubleshooting',
      comparison: 'Comparison',
    },
  },
  {
    text: 'Guides',
    pages: {
      login: 'Login',
      overload: 'Overload',
      recipes: 'Recipes',
      policies: 'Policies',
      keys: 'Keys',
      headers: 'Headers and responses',
      proxies: 'Proxies',
      cors: 'CORS',
      'without-http': 'Without HTTP',
      testing: 'Testing your limits',
      replay: 'Try a limit on your logs',
      tune: 'Learn a limit',
    },
  },
  {
    text: 'Frameworks',
    pages: {
      fastify: 'Fastify',
      koa: 'Koa',
      nest: 'NestJS',
      hono: 'Hono',
      fetch: 'Next.js, SvelteKit, Workers',
    },
  },
  {
    text: 'Runtimes',
    pages: {
      'runtimes/': 'What runs where',
      'runtimes/cloudflare-workers': 'Cloudflare Workers',
      'runtimes/vercel': 'Vercel and Next.js',
      'runtimes/deno': 'Deno',
      'runtimes/bun': 'Bun',
    },
  },
  {
    text: 'Stores',
    pages: {
      'stores/': 'Choosing a store',
      'stores/memory': 'Memory',
      'stores/redis': 'Redis and Valkey',
      'stores/other-redis-clients': 'Other Redis clients',
      'stores/upstash': 'Upstash',
      'stores/memcached': 'memcached',
      'stores/mysql': 'MySQL and MariaDB',
      'stores/postgresql': 'PostgreSQL',
      'stores/sqlite': 'SQLite',
      'stores/deno-kv': 'Deno KV',
      'stores/durable-objects': 'Cloudflare Durable Objects',
      'stores/dynamodb': 'DynamoDB',
      orms: "With your ORM's pool",
      'stores/cluster': 'node:cluster',
    },
  },
  {
    text: 'Operate',
    pages: {
      rollout: 'Rolling out a limit',
      reliability: 'Reliability',
      'hot-keys': 'Hot keys',
      settings: 'Settings',
      'settings-command': 'Settings from a shell',
      upgrading: 'Upgrading a running fleet',
      sizing: 'Sizing',
      observability: 'Logs, metrics and events',
      dashboard: 'Dashboard',
      inspect: 'Look up a client',
    },
  },
  {
    text: 'Moving over',
    pages: {
      'migrating/': 'Overview',
      'migrating/express-rate-limit': 'express-rate-limit',
      'migrating/rate-limiter-flexible': 'rate-limiter-flexible',
      'migrating/express-slow-down': 'express-slow-down',
      'migrating/fastify-rate-limit': '@fastify/rate-limit',
      'migrating/koa-ratelimit': 'koa-ratelimit',
      'migrating/nestjs-throttler': '@nestjs/throttler',
      'migrating/hono-rate-limiter': 'hono-rate-limiter',
      'migrating/upstash-ratelimit': '@upstash/ratelimit',
      'migrating/bottleneck': 'bottleneck',
      'migrating/p-limit': 'p-limit',
      'migrating/rack-attack': 'rack-attack',
    },
  },
  {
    text: 'Reference',
    pages: {
      options: 'Options',
      entries: 'What to import',
      benchmarks: 'Benchmarks',
      'how-it-works': 'How it works',
      'writing-a-store': 'Writing a store',
    },
  },
]

/** What `docs/` holds besides guides. */
const NOT_GUIDES = /^(?:node_modules|api|\.vitepress)\//

/** Throws unless each page of a folder is in one group, and each page of the groups exists. */
export function checkGroups(groups: readonly Group[], folder: string): void {
  const listed = groups.flatMap(({ pages }) => Object.keys(pages))
  const there = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && file !== 'index.md' && !NOT_GUIDES.test(file))
    .map((file) => file.replace(/(?:(?<=\/)index)?\.md$/, ''))
  const problems = [
    ...there.filter((page) => !listed.includes(page)).map((page) => `${page}.md is in no group`),
    ...listed.filter((page) => !there.includes(page)).map((page) => `${page}.md does not exist`),
    ...listed.filter((page, i) => listed.indexOf(page) < i).map((page) => `${page}.md is in two groups`),
  ]
  if (problems.length > 0) throw new Error(`docs/.vitepress/pages.ts: ${problems.join('; ')}.`)
}
