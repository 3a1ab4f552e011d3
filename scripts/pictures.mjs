// Takes the pictures of docs/pictures, light and dark: the first view of the demo, and the dashboard of
// examples/dashboard.ts, each after it has run for a while. Needs Chromium: /usr/bin/chromium, or the one that
// CHROMIUM_PATH names.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { withPalette } from './palette-png.mjs'

const PICTURES = [
  {
    name: 'demo',
    program: 'examples/demo/main.ts',
    path: '/',
    filledMs: 31_000, // the strips show half a minute
    isReady: (page) => page.locator('#policy-answer .status', { hasText: '429' }).waitFor(),
  },
  {
    name: 'dashboard',
    program: 'examples/dashboard.ts',
    path: '/limits/',
    filledMs: 240_000,
    isReady: (page) => page.locator('[data-limiter=login]').waitFor(),
  },
]
const PASSWORD = 'pictures'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
mkdirSync('docs/pictures', { recursive: true })

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  await Promise.all(PICTURES.map(take))
} finally {
  await browser.close()
}

async function take({ name, program, path, filledMs, isReady }) {
  const server = spawn(process.execPath, ['--import', 'tsx', program], {
    env: { ...process.env, PORT: '0', PASSWORD },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [printed] = await once(server.stdout, 'data')
    const [url] = /http:\/\/localhost:\d+/.exec(printed)
    const page = await browser.newPage({
      viewport: { width: 1440, height: 900 },
      httpCredentials: { username: 'admin', password: PASSWORD },
    })
    await page.goto(url + path)
    await pause(filledMs)
    await isReady(page)
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      await pause(200) // until the charts are drawn
      writeFileSync(`docs/pictures/${name}-${colorScheme}.png`, withPalette(await page.screenshot()))
    }
  } finally {
    server.kill()
  }
}
