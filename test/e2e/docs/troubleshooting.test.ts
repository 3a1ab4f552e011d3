import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createLimiter } from 'headgate'
import { ERROR_CODES, WARNING_CODES } from '../../../src/util/codes.js'
import { listenForWarnings } from '../../support/warnings.js'
import { anchorsOf } from './pages.js'

const ROOT = resolve(__dirname, '../../..')
const SITE = 'https://headgate.github.io/headgate/'
const page = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8')

const codes: readonly string[] = [...WARNING_CODES, ...ERROR_CODES]

test('the page has a heading for each code, in alphabetical order, and for no other', () => {
  const headings = Array.from(page.matchAll(/^### (HEADGATE_\w+)$/gm), ([, code]) => code)
  expect(headings).toEqual([...codes].sort())
})

test('each code is one that a file of src uses', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  const sources = files
    .filter((file) => file.endsWith('.ts') && file !== join('util', 'codes.ts'))
    .map((file) => readFileSync(join(ROOT, 'src', file), 'utf8'))
  expect(codes.filter((code) => !sources.some((source) => source.includes(`'${code}'`)))).toEqual([])
})

test('a warning ends with the URL of its heading', async () => {
  const warnings = listenForWarnings()
  await createLimiter({ limit: 1, window: '1m' }).charge({ headers: {}, socket: {} })
  expect(warnings()).toEqual(['HEADGATE_NO_ADDRESS'])
  const message = String(jest.mocked(process.emitWarning).mock.calls[0]?.[0])
  jest.restoreAllMocks()
  const [url = ''] = /\S+$/.exec(message) ?? []
  expect(url).toBe(`${SITE}troubleshooting#headgate_no_address`)
  expect(anchorsOf(page)).toContain(url.split('#')[1])
})
