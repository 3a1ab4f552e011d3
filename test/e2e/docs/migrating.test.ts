import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import express from 'express'
import { rateLimit as expressRateLimit } from 'express-rate-limit'
import { rateLimit } from 'headgate'
import * as flexible from 'rate-limiter-flexible'
import request from 'supertest'
import { FOREIGN_OPTIONS } from '../../../src/options/foreign-options.js'
import {
  BOTTLENECK,
  EXPRESS_RATE_LIMIT,
  EXPRESS_SLOW_DOWN,
  FASTIFY_RATE_LIMIT,
  FORMER,
  HONO_RATE_LIMITER,
  KOA_RATELIMIT,
  NEST_THROTTLER,
  RATE_LIMITER_FLEXIBLE,
  UPSTASH_RATELIMIT,
} from '../../support/peer-options.js'
import { itemsIn } from '../migrating/boxes.js'
import type { Page } from './pages.js'
import { rowsOf } from './rows.js'

const ROOT = resolve(__dirname, '../../..')

/** Packages whose options stand in tables of code, by the name of their page. */
const IN_CODE = {
  'express-rate-limit': EXPRESS_RATE_LIMIT,
  'rate-limiter-flexible': RATE_LIMITER_FLEXIBLE,
  'express-slow-down': EXPRESS_SLOW_DOWN,
  'nestjs-throttler': NEST_THROTTLER,
  'upstash-ratelimit': UPSTASH_RATELIMIT,
}

/** Packages for one framework, whose options stand in tables of prose. */
const IN_PROSE = {
  'fastify-rate-limit': FASTIFY_RATE_LIMIT,
  'koa-ratelimit': KOA_RATELIMIT,
  'hono-rate-limiter': HONO_RATE_LIMITER,
}

function pageOf(name: string): Page {
  const path = `docs/migrating/${name}.md`
  return { path, text: readFileSync(join(ROOT, path), 'utf8') }
}

/** What the tables of code on a page write in place of an option: code, a reason to leave it out, or `–`. */
function replacements(name: string, option: string): readonly string[] {
  const writes = new RegExp(`\\b${option}(:|\`)`)
  return rowsOf(pageOf(name))
    .filter(({ kinds: [kind], cells: [theirs = ''] }) => kind !== 'text' && writes.test(theirs))
    .map(({ kinds: [, kind], cells: [, cell = ''] }) => (kind === 'text' ? '–' : cell))
}

/** What the tables of prose on a page say about an option. */
function advice(name: string, option: string): readonly string[] {
  const named = new RegExp(`\`${option}\\b`)
  return pageOf(name)
    .text.split('\n')
    .map((line) => /^\| (.+?) \| (.+) \|$/.exec(line) ?? [])
    .filter(([, theirs = '']) => named.test(theirs))
    .map(([, , cell = '']) => cell)
}

test.each(Object.entries(IN_CODE))('each option of %s has a row of code', (name, options) => {
  expect(options.length).toBeGreaterThan(0)
  expect(options.filter((option) => replacements(name, option).length === 0)).toEqual([])
})

test.each(Object.entries(IN_PROSE))('each option of %s has a row', (name, options) => {
  expect(options.length).toBeGreaterThan(0)
  expect(options.filter((option) => advice(name, option).length === 0)).toEqual([])
})

test('each option of bottleneck is named', () => {
  const { text } = pageOf('bottleneck')
  expect(BOTTLENECK).toEqual(expect.arrayContaining(['maxConcurrent', 'timeout']))
  expect(BOTTLENECK.filter((option) => !new RegExp(`\\b${option}(:|\`)`).test(text))).toEqual([])
})

test('each class of rate-limiter-flexible, and each method of its limiters, is named', () => {
  const { prototype } = flexible.RateLimiterMemory
  const methods = [prototype, Object.getPrototypeOf(prototype)].flatMap((owner) =>
    Object.entries(Object.getOwnPropertyDescriptors(owner))
      .filter(([name, { value }]) => typeof value === 'function' && !/^_|^constructor$/.test(name))
      .map(([name]) => name),
  )
  expect(methods).toEqual(expect.arrayContaining(['consume', 'getKey']))
  const { text } = pageOf('rate-limiter-flexible')
  const names = [...Object.keys(flexible).filter((name) => name !== 'default'), ...methods]
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
})

const NAMES = readdirSync(join(ROOT, 'docs/migrating')).map((file) => file.replace('.md', ''))

test.each(NAMES.filter((name) => name !== 'index'))(
  '%s has a box that says what changes in production',
  (name) => {
    expect(itemsIn(name)).not.toEqual([]) // test/e2e/migrating shows each item
  },
)

/** Options of former versions, which no row mentions. */
const options = Object.entries(FOREIGN_OPTIONS).filter(([option]) => !FORMER.includes(option))
const codePages = [...Object.keys(IN_CODE), 'bottleneck']

test.each(options)('the error for %s, an option of another package, says what a page says', (option, fix) => {
  const sentence = String(fix)
  const [name] = /(?<=^Write )\w+|^\w+$/.exec(sentence) ?? []
  const code = codePages.flatMap((page) => replacements(page, option))
  const prose = Object.entries(IN_PROSE)
    .filter(([, declared]) => declared.includes(option))
    .flatMap(([page]) => advice(page, option))
  const inCode = name === undefined ? /^–$/ : new RegExp(`\\b${name}:`)
  const unnamed = sentence.startsWith('Listen') ? /events\.on/ : /nothing|block/
  const inProse = name === undefined ? unnamed : new RegExp(`\`${name}\\b|\\b${name}\``)
  const agreeing = [
    ...code.filter((cell) => inCode.test(cell)),
    ...prose.filter((cell) => inProse.test(cell)),
  ]
  expect({ option, agreeing }).not.toEqual({ option, agreeing: [] })
})

test('in report mode, a limiter in front of express-rate-limit changes nothing and sees every request', async () => {
  const api = rateLimit({ limit: 1, window: '1m', mode: 'report' })
  let denials = 0
  api.limiter.events.on('denied', () => denials++)
  const app = express()
  app.use(api, expressRateLimit({ limit: 2 }))
  app.get('/', (req, res) => void res.json(req.rateLimit))
  const statuses: number[] = []
  for (let i = 0; i < 4; i++) {
    const { status, body, headers } = await request(app).get('/')
    statuses.push(status)
    expect(headers['x-ratelimit-limit']).toBe('2')
    if (status === 200) expect(body).toMatchObject({ limit: 2, used: i + 1 })
  }
  expect({ statuses, denials }).toEqual({ statuses: [200, 200, 429, 429], denials: 3 })
})
