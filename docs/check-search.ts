// Checks that the search of the built site leads to what a reader means: each query must find its page, and
// its section if it names one, before all others.
import { readdirSync } from 'node:fs'
import MiniSearch from 'minisearch'
import { SEARCH } from './.vitepress/search.js'

const BASE = '/headgate/'
const QUERIES = {
  skip: 'options#option-skip',
  onDenied: 'options#option-ondenied',
  onLimited: 'options#option-ondenied',
  timeout: 'options#option-timeout',
  timeoutMs: 'options#option-timeout',
  'per user': 'options#option-key',
  windowMs: 'options#option-window',
  keyGenerator: 'options#option-key',
  onStoreError: 'options#option-onstoreerror',
  denyCache: 'options#option-denycache',
  whitelist: 'options#option-allow',
  'token bucket': 'policies#the-token-bucket',
  heroku: 'proxies',
  'getting started': 'getting-started',
  HEADGATE_NO_ADDRESS: 'troubleshooting#headgate_no_address',
  bottleneck: 'migrating/bottleneck',
  redis: 'stores/redis',
  'express-rate-limit': 'migrating/express-rate-limit',
  login: 'login',
  'brute force': 'login',
  unblock: 'inspect',
  'retry-after': 'headers',
  bans: 'policies#bans',
  'trust proxy': 'proxies',
  nextjs: 'fetch',
  'next.js': 'fetch',
  serverless: 'fetch',
  nestjs: 'nest',
  performance: 'benchmarks',
  overhead: 'benchmarks',
  install: 'getting-started',
  quickstart: 'getting-started',
  'ban ip': 'options#option-block',
  'block ip': 'options#option-block',
  'whitelist ip': 'options#option-allow',
  'ban user': 'inspect',
  'rate limit by email': 'keys',
  'api key': 'options#option-key',
  'reset limit': 'inspect',
  unban: 'inspect',
  'dry run': 'options#option-mode',
  websocket: 'recipes',
  'socket.io': 'recipes',
  pm2: 'recipes#several-processes-nodecluster-and-pm2',
  prometheus: 'observability#metrics',
  logging: 'observability',
  'memory leak': 'stores/memory',
  'x-forwarded-for': 'proxies',
  'wrong ip': 'proxies',
  jest: 'testing',
  'unit test': 'testing',
  'redis down': 'options#option-onstoreerror',
  otp: 'login',
  postgres: 'stores/postgresql',
  valkey: 'stores/redis',
  typescript: 'entries#typescript',
  'sliding window': 'policies#the-sliding-window',
  concurrency: 'policies',
  'custom error message': 'options#option-message',
  'too many requests': 'headers',
  'rate limit not working': 'troubleshooting',
  ddos: 'proxies',
  upgrade: 'upgrading',
}

const chunks = new URL('.vitepress/dist/assets/chunks/', import.meta.url)
const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot')) ?? ''
const { default: json } = await import(new URL(file, chunks).href)
// As the theme of VitePress loads and asks it.
const index = MiniSearch.loadJSON(json, {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions: {
    fuzzy: 0.2,
    prefix: true,
    boost: { title: 4, text: 2, titles: 1 },
    ...SEARCH.options.miniSearch.searchOptions,
  },
})

const wrong = Object.entries(QUERIES).flatMap(([query, expected]) => {
  const found = index.search(query).map(({ id }) => id.slice(BASE.length).replace(/\.html$|\.html(?=#)/, ''))
  const [first = 'nothing'] = found
  const isRight = expected.includes('#') ? first === expected : first.split('#')[0] === expected
  return isRight ? [] : [`"${query}" finds ${found.slice(0, 3).join(', ')} before ${expected}`]
})
for (const line of wrong) console.error(line)
console.log(`${Object.keys(QUERIES).length} searches, ${wrong.length} wrong`)
process.exitCode = wrong.length > 0 ? 1 : 0
