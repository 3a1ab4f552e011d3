// Takes docs/pictures/demo-light.png and demo-dark.png: the first view of the demo, half a minute after it was opened.
// Needs Chromium: /usr/bin/chromium, or the one that CHROMIUM_PATH names.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { withPalette } from './palette-png.mjs'

const FILLED_MS = 31_000 // the strips show half a minute

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
mkdirSync('docs/pictures', { recursive: true })

const demo = spawn(process.execPath, ['--import', 'tsx', 'examples/demo/main.ts'], {
  env: { ...process.env, PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const [printed] = await once(demo.stdout, 'data')
  const [url] = /http:\/\/localhost:\d+/.exec(printed)
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(url)
  await pause(FILLED_MS)
  await page.locator('#policy-answer .status', { hasText: '429' }).waitFor()
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    const picture = withPalette(await page.screenshot())
    writeFileSync(`docs/pictures/demo-${colorScheme}.png`, picture)
  }
} finally {
  await browser.close()
  demo.kill()
}
