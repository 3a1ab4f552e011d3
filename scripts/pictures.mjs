// Takes the pictures of docs/pictures, light and dark: the first view of the demo after it has run for a while, and
// the dashboard during an incident that is made up.
import { mkdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { launchChromium, PASSWORD, startProgram } from './program.mjs'

const SCENE = 'test/tools/dashboard-scenes/main.ts'
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
    program: SCENE,
    path: '/limits/',
    filledMs: 0,
    isReady: (page) => page.locator('[data-limiter=login]').waitFor(),
  },
  {
    name: 'dashboard-limiter',
    program: SCENE,
    path: '/limits/#/limiter/search',
    filledMs: 0,
    isReady: (page) => page.locator('[data-detail=search] tr.client').first().waitFor(),
  },
]

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
mkdirSync('docs/pictures', { recursive: true })

const browser = await launchChromium()
try {
  await Promise.all(PICTURES.map(take))
} finally {
  await browser.close()
}

async function take({ name, program, path, filledMs, isReady }) {
  const { url, stop } = await startProgram(program)
  try {
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
      const png = sharp(await page.screenshot()).png({ palette: true, effort: 10 })
      await png.toFile(`docs/pictures/${name}-${colorScheme}.png`)
    }
  } finally {
    stop()
  }
}
