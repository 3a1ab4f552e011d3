import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as flexible from 'rate-limiter-flexible'
import { FOREIGN_OPTIONS } from '../../../src/options/foreign-options.js'
import {
  EXPRESS_RATE_LIMIT,
  EXPRESS_SLOW_DOWN,
  FASTIFY_RATE_LIMIT,
  FORMER,
  HONO_RATE_LIMITER,
  KOA_RATELIMIT,
  NEST_THROTTLER,
  RATE_LIMITER_FLEXIBLE,
} from '../../support/peer-options.js'
import { rowsOf } from './rows.js'

const ROOT = resolve(__dirname, '../../..')
const path = 'docs/migrating/index.md'
const text = readFileSync(join(ROOT, path), 'utf8')
/** What follows each `## ` heading. */
const sections = new Map(
  text.split(/^## /m).map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
)

/** The rows of a section: its left, its middle and its right cells. */
function rowsUnder(heading: string): readonly string[][] {
  return rowsOf({ path, text: sections.get(heading) ?? '' }).map(({ cells }) => [...cells])
}

/** The rows of a section whose left cell writes an option. */
function rowsWith(heading: string, option: string): readonly string[][] {
  return rowsUnder(heading).filter(([theirs = '']) => new RegExp(`\\b${option}(:|\`)`).test(theirs))
}

test.each([
  ['express-rate-limit', EXPRESS_RATE_LIMIT],
  ['rate-limiter-flexible', RATE_LIMITER_FLEXIBLE],
  ['express-slow-down', EXPRESS_SLOW_DOWN],
  ['@nestjs/throttler', NEST_THROTTLER],
])('each option of %s has a row', (heading, options) => {
  expect(options.length).toBeGreaterThan(0)
  expect(options.filter((option) => rowsWith(heading, option).length === 0)).toEqual([])
})

test('each class of rate-limiter-flexible, and each method of its limiters, is named', () => {
  const { prototype } = flexible.RateLimiterMemory
  const methods = [prototype, Object.getPrototypeOf(prototype)].flatMap((owner) =>
    Object.entries(Object.getOwnPropertyDescriptors(owner))
      .filter(([name, { value }]) => typeof value === 'function' && !/^_|^constructor$/.test(name))
      .map(([name]) => name),
  )
  expect(methods).toEqual(expect.arrayContaining(['consume', 'getKey']))
  const section = sections.get('rate-limiter-flexible') ?? ''
  const names = [...Object.keys(flexible).filter((name) => name !== 'default'), ...methods]
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(section))).toEqual([])
})

/** Options of packages for one framework, and the page with a table of them. */
const OF_FRAMEWORKS = Object.entries({
  'docs/migrating/fastify-rate-limit.md': FASTIFY_RATE_LIMIT,
  'docs/migrating/koa-ratelimit.md': KOA_RATELIMIT,
  'docs/migrating/hono-rate-limiter.md': HONO_RATE_LIMITER,
})

/** Returns what the pages of packages for one framework say in their tables about an option, in prose. */
function adviceOn(option: string): readonly string[] {
  const named = new RegExp(`\`${option}\\b`)
  return OF_FRAMEWORKS.filter(([, options]) => options.includes(option)).flatMap(([page]) =>
    readFileSync(join(ROOT, page), 'utf8')
      .split('\n')
      .map((line) => /^\| (.+?) \| (.+) \|$/.exec(line) ?? [])
      .filter(([, theirs = '']) => named.test(theirs))
      .map(([, , advice = '']) => advice),
  )
}

/** Options of former versions, which no row mentions. */
const options = Object.entries(FOREIGN_OPTIONS).filter(([option]) => !FORMER.includes(option))

describe.each(options)('the error for %s, an option of another package', (option, fix) => {
  const sentence = typeof fix === 'string' ? fix : fix(64)
  const [name] = /(?<=^Write )\w+|^\w+$/.exec(sentence) ?? []
  const rows = [...sections.keys()].flatMap((heading) => rowsWith(heading, option))

  if (rows.length > 0) {
    test('says what a row of the page says', () => {
      const expected = name === undefined ? /^–$/ : new RegExp(`\\b${name}:`)
      expect(rows.map(([, cell]) => cell)).toContainEqual(expect.stringMatching(expected))
    })
    return
  }
  test('says what the page of its package says', () => {
    const unnamed = sentence.startsWith('Listen') ? /events\.on/ : /nothing|block/
    const expected = name === undefined ? unnamed : new RegExp(`\`${name}\\b|\\b${name}\``)
    expect(adviceOn(option)).toContainEqual(expect.stringMatching(expected))
  })
})
