import { readdirSync } from 'node:fs'

/** A group of the sidebar: the names of its pages, without `.md`, and what the sidebar calls them. */
export interface Group {
  readonly text: string
  readonly pages: Readonly<Record<string, string>>
}

/** All pages of `docs/` but the home page, in the groups of the README. */
export const GROUPS: readonly Group[] = [
  {
    text: 'Set up',
    pages: {
      'production-checklist': 'Production checklist',
      'behind-a-proxy': 'Behind a proxy or a CDN',
      cors: 'CORS',
      recipes: 'Recipes',
      testing: 'Testing your limits',
      replay: 'Try a limit on your logs',
      sizing: 'Sizing',
      upgrading: 'Upgrading a running fleet',
    },
  },
  {
    text: 'Reference',
    pages: {
      options: 'Options',
      entries: 'What to import',
      koa: 'Koa',
      fastify: 'Fastify',
      nest: 'NestJS',
      hono: 'Hono',
      fetch: 'Next.js, SvelteKit, Workers',
      policies: 'Policies',
      keys: 'Keys',
      stores: 'Stores',
      login: 'Login',
      headers: 'Headers and responses',
      'without-http': 'Without HTTP',
      operations: 'Operations',
      settings: 'Settings',
      inspect: 'Look up a client',
      observability: 'Logs and metrics',
      dashboard: 'Dashboard',
      reliability: 'Reliability',
      benchmarks: 'Benchmarks',
    },
  },
  {
    text: 'Moving over',
    pages: {
      'express-rate-limit': 'From express-rate-limit',
      migrating: 'From other limiters',
    },
  },
  {
    text: 'Inside',
    pages: {
      'how-it-works': 'How it works',
      'writing-a-store': 'Writing a store',
    },
  },
]

/** Throws unless each page of a folder is in one group, and each page of the groups exists. */
export function checkGroups(groups: readonly Group[], folder: string): void {
  const listed = groups.flatMap(({ pages }) => Object.keys(pages))
  const there = readdirSync(folder)
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .map((file) => file.slice(0, -'.md'.length))
  const problems = [
    ...there.filter((page) => !listed.includes(page)).map((page) => `${page}.md is in no group`),
    ...listed.filter((page) => !there.includes(page)).map((page) => `${page}.md does not exist`),
    ...listed.filter((page, i) => listed.indexOf(page) < i).map((page) => `${page}.md is in two groups`),
  ]
  if (problems.length > 0) throw new Error(`docs/.vitepress/pages.ts: ${problems.join('; ')}.`)
}
