import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from '../../support/servers/chromium.js'

const run = promisify(execFile)
const DOCS = resolve(__dirname, '../../../docs')
const BASE = '/headgate/'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Builds the documentation and serves it for the tests of a file. */
export function useSite() {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-site-'))
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://localhost')
    const path = fileFor(join(folder, pathname.slice(BASE.length)))
    if (path === undefined) return res.writeHead(404).end()
    return res.writeHead(200, { 'Content-Type': TYPES[extname(path)] }).end(readFileSync(path))
  })
  let browser: Browser

  beforeAll(async () => {
    await build(folder)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    browser = await launchChromium()
  }, 900_000) // where its packages, and Chromium, have to be installed first

  afterAll(async () => {
    await browser?.close()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    /** The HTML files of the pages. */
    pages: () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html')),
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),

    /** Opens a page in a new tab. Returns it with what its console complains of. */
    async open(
      path: string,
      options: BrowserContextOptions = {},
    ): Promise<{ page: Page; troubles: string[] }> {
      const page = await browser.newPage({ viewport: { width: 1300, height: 900 }, ...options })
      const troubles: string[] = []
      page.on('pageerror', (error) => troubles.push(error.message))
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) troubles.push(message.text())
      })
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}${path}`)
      return { page, troubles }
    },
  }
}

async function build(outDir: string): Promise<void> {
  if (!existsSync(join(DOCS, 'node_modules'))) await run('npm', ['ci'], { cwd: DOCS })
  await run('npm', ['run', 'api'], { cwd: DOCS }) // pages that others link to
  await run('npx', ['vitepress', 'build', '--outDir', outDir], { cwd: DOCS })
}

function fileFor(path: string): string | undefined {
  const candidates = [path, `${path}.html`, join(path, 'index.html')]
  return candidates.find((each) => existsSync(each) && statSync(each).isFile())
}
