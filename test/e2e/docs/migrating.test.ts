import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as flexible from 'rate-limiter-flexible'
import { FOREIGN_OPTIONS } from '../../../src/options/foreign-options.js'
import {
  EXPRESS_RATE_LIMIT,
  EXPRESS_SLOW_DOWN,
  NEST_THROTTLER,
  RATE_LIMITER_FLEXIBLE,
} from '../../support/peer-options.js'
import { rowsOf } from './rows.js'

const ROOT = resolve(__dirname, '../../..')
const path = 'docs/migrating.md'
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

/** The rows of the frameworks' pages about packages of that framework: what it has, and what headgate has. */
const frameworkRows = ['docs/fastify.md', 'docs/koa.md', 'docs/hono.md'].flatMap((page) => {
  const [, section = ''] = readFileSync(join(ROOT, page), 'utf8').split(/^## From .*$/m)
  return [...section.matchAll(/^\| (.+) \| (.+) \|$/gm)].map(([, theirs = '', ours = '']) => [theirs, ours])
})

/** Options of former versions, which no row mentions. */
const WITHOUT_ROWS = ['trustProxy', 'onLimitReached']

describe.each(Object.entries(FOREIGN_OPTIONS).filter(([option]) => !WITHOUT_ROWS.includes(option)))(
  'the error for %s, an option of another package',
  (option, fix) => {
    const [name] = /(?<=^Write )\w+|^\w+$/.exec(typeof fix === 'string' ? fix : fix(64)) ?? []
    const cells = [...sections.keys()].flatMap((heading) => rowsWith(heading, option)).map(([, cell]) => cell)

    test('says what a row of a page says', () => {
      if (cells.length > 0) {
        expect(cells).toContainEqual(expect.stringMatching(name === undefined ? /^–$/ : `\\b${name}:`))
        return
      }
      const rows = frameworkRows.filter(([theirs = '']) => new RegExp(`\`${option}\\b`).test(theirs))
      const written = rows.map(([, ours]) => ours)
      expect(written).toContainEqual(
        expect.stringMatching(name === undefined ? /nothing|events/ : `\\b${name}\\b`),
      )
    })
  },
)
