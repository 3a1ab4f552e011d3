import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { MIDDLEWARE_ROWS, readRequestOptions } from '../../../src/http/options.js'
import { nodeWriter } from '../../../src/http/response-writer.js'
import { LIMITER_ROWS } from '../../../src/limiter/read-options.js'
import { durationText } from '../../../src/util/durations.js'

const ROOT = resolve(__dirname, '../../..')
const page = readFileSync(join(ROOT, 'docs/options.md'), 'utf8')

/** The rows of the tables: the name of an option, and its default, if it is a value. */
const rows = [...page.matchAll(/^\| `(\w+)` \| (?:–|`([^`]+)`) \|/gm)].map(([, name, value]) => ({
  name: name as string,
  section: sectionOf(name as string),
  value,
}))

function sectionOf(name: string): string {
  const before = page.slice(0, page.indexOf(`\n| \`${name}\` |`))
  return before.slice(before.lastIndexOf('\n## ') + 4).split('\n')[0] as string
}

test('the page about options has each option once', () => {
  expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(MIDDLEWARE_ROWS).sort())
})

test('the page says which options createLimiter has', () => {
  const isOfBoth = ({ section }: { section: string }) => section !== 'Requests' && section !== 'Responses'
  const names = rows.filter(isOfBoth).map(({ name }) => name)
  expect(names.sort()).toEqual(Object.keys(LIMITER_ROWS).sort())
})

test('the page has the defaults that are in force', () => {
  const settings = readRequestOptions('rateLimit', { limit: 1, window: '1s' }, nodeWriter)
  const { denyCacheMs, timeoutMs } = settings.limiter
  const durations = { denyCache: durationText(denyCacheMs), timeout: durationText(timeoutMs) }
  const named = { ...settings, ...durations } as Record<string, unknown>
  const inForce = rows.flatMap(({ name, value }) => {
    if (value === undefined || name === 'key' || name === 'cost') return [] // read into the limits
    return [`${name}: ${spell(named[name])}`]
  })
  const documented = rows.filter(
    ({ name, value }) => value !== undefined && name !== 'key' && name !== 'cost',
  )
  expect(documented.length).toBeGreaterThan(8)
  expect(inForce).toEqual(documented.map(({ name, value }) => `${name}: ${value}`))
})

function spell(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
