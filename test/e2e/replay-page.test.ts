import { once } from 'node:events'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { InputError, UsageError } from '../../src/cli/failures.js'
import { printable } from '../../src/cli/output.js'
import { replayCommand } from '../../src/cli/replay/command.js'
import { launchChromium } from '../support/servers/chromium.js'

const axe = readFile(require.resolve('axe-core/axe.min.js'), 'utf8')
const HOSTILE = `<script>document.title='ran'</script>"'\u202e${'x'.repeat(900)}`
const ARGS = ['--window', '1m', '--policy', 'fixed-window', '--suggest', '--key', 'user']

let browser: Browser
let folder: string

beforeAll(async () => {
  browser = await launchChromium()
  folder = mkdtempSync(join(tmpdir(), 'headgate-replay-page-'))
  const lines = Array.from({ length: 600 }, (_, i) => {
    const user = i % 3 === 0 ? HOSTILE : `user-${i % 40}`
    return JSON.stringify({ time: Date.UTC(2026, 10, 24, 3) + 5000 * i, ip: '192.0.2.1', user })
  })
  writeFileSync(join(folder, 'log'), lines.join('\n'))
  mkdirSync(join(folder, 'folder.html'))
}, 600_000) // where Chromium has to be installed first

afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Opens the report of a replay. Returns the page with what it complains of, and what it loads. */
async function openReport(options: BrowserContextOptions = {}) {
  const file = join(folder, 'report.html')
  await replayCommand([join(folder, 'log'), '--limit', '2', '--limit', '3', ...ARGS, '--html', file])
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('console', (message) => troubles.push(message.text()))
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('request', (request) => {
    if (request.url() !== pathToFileURL(file).href) troubles.push(request.url())
  })
  await page.goto(pathToFileURL(file).href)
  return { page, troubles }
}

/** Returns what axe finds, one line each. It runs in a world of its own: the page allows no script. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(await axe)
  return page.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
}

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true }

test.each([
  ['a wide screen', {}],
  ['a phone', PHONE],
])('the page of a report fits %s, in light and dark, and axe finds nothing', async (_, options) => {
  const { page, troubles } = await openReport({ ...options, colorScheme: 'light' })
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  expect(await background()).toBe('rgb(245, 246, 248)')
  expect(await findings(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await background()).toBe('rgb(13, 18, 23)')
  expect(await findings(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  const { width = 0 } = page.viewportSize() ?? {}
  for (const bar of await page.locator('rect').all()) {
    const { x, width: barWidth } = (await bar.boundingBox()) ?? { x: -1, width: 0 }
    expect(x).toBeGreaterThan(0)
    expect(x + barWidth).toBeLessThan(width)
  }
  expect(troubles).toEqual([])
})

test('shows a chart and the figures of each limit, and the suggestions', async () => {
  const { page } = await openReport()
  expect(await page.locator('h2').allTextContents()).toEqual([
    'Log',
    'How the first request was read',
    '2 in 1m (fixed-window)',
    '3 in 1m (fixed-window)',
  ])
  expect(await page.getByRole('table').count()).toBe(4)
  const chart = page.getByRole('img', { name: /allowed and denied by 2 in 1m/ })
  expect(await chart.locator('rect.denied').count()).toBe(10)
  const compared = page.getByRole('table', { name: 'Limits compared' }).getByRole('row')
  expect(await compared.nth(1).textContent()).toMatch(/^2100 \(16\.67%\)1 \(/)
  await page.getByRole('table', { name: /^Smallest limits/ }).waitFor()
})

test('shows the requests over time where there are suggestions only', async () => {
  const file = join(folder, 'suggestions.html')
  await replayCommand([join(folder, 'log'), ...ARGS, '--html', file])
  const page = await browser.newPage()
  await page.goto(pathToFileURL(file).href)
  const chart = page.getByRole('img', { name: /^Requests in each 5m$/ })
  expect(await chart.locator('rect.allowed').count()).toBe(10)
  expect(await chart.locator('rect.denied').count()).toBe(0)
  expect(await findings(page)).toEqual([])
})

test('what a client sent is text, shortened, and runs no script', async () => {
  const { page } = await openReport()
  expect(await page.title()).toBe('headgate replay')
  const name = await page.locator('bdi').first().textContent()
  expect(name).toMatch(/^user:<script>document\.title='ran'<\/script>"'\\u202ex+…$/)
  expect(Array.from(name ?? '').length).toBeLessThan(100)
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).not.toContain('<script')
})

const UNWRITABLE: readonly [path: string, reason: string][] = [
  ['missing/report.html', 'there is no such folder'],
  ['log/report.html', 'there is no such folder'],
  ['folder.html', 'it is a folder'],
  [`${'x'.repeat(255)}.html`, 'the name is too long'],
]

test.each(UNWRITABLE)(
  'a report that cannot be written to %s is one clear error, and leaves nothing',
  async (path, reason) => {
    const target = join(folder, path)
    const run = replayCommand([join(folder, 'log'), '--limit', '2', ...ARGS, '--html', target])
    await expect(run).rejects.toThrow(new InputError(`cannot write ${printable(target)}: ${reason}`))
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  },
)

test('a replay that fails leaves the report of an earlier one as it was', async () => {
  const file = join(folder, 'kept.html')
  writeFileSync(file, 'earlier')
  const run = replayCommand([join(folder, 'no-log'), '--limit', '2', ...ARGS, '--html', file])
  await expect(run).rejects.toThrow(InputError)
  expect(readFileSync(file, 'utf8')).toBe('earlier')
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

test('a log that is named in place of the page is not replaced', async () => {
  const log = join(folder, 'log')
  const before = readFileSync(log, 'utf8')
  await expect(replayCommand([log, '--limit', '2', ...ARGS, '--html', log])).rejects.toThrow(UsageError)
  expect(readFileSync(log, 'utf8')).toBe(before)
})

test('a link stays a link, and what it leads to is replaced', async () => {
  const [link, target] = [join(folder, 'link.html'), join(folder, 'target.html')]
  writeFileSync(target, 'earlier')
  symlinkSync(target, link)
  await replayCommand([join(folder, 'log'), '--limit', '2', ...ARGS, '--html', link])
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(readFileSync(target, 'utf8')).toMatch(/^<!doctype html>/)
})

test('a socket is not replaced, as no device would be', async () => {
  const path = join(folder, 'socket.html')
  const server = createServer().listen(path)
  await once(server, 'listening')
  const run = replayCommand([join(folder, 'log'), '--limit', '2', ...ARGS, '--html', path])
  await expect(run).rejects.toThrow(new InputError(`cannot write ${path}: it is not a regular file`))
  expect(lstatSync(path).isSocket()).toBe(true)
  server.close()
})
