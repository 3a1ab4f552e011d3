import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../support/servers/chromium.js'
import { STATES, type Steps } from './dialogs.js'
import { figuresOf } from './scene.js'
import { SCENES } from './scenes.js'
import { servePage } from './serve.js'

const SIZES = {
  phone: { width: 390, height: 844 },
  wide: { width: 1440, height: 900 },
  wall: { width: 2560, height: 1440 },
} as const

/** What is looked at in a scene: addresses of the page. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  incident: [
    '#/',
    '#/limiter/search',
    '#/limiter/login?yesterday=1',
    '#/limiter/search?range=24h&yesterday=1',
    '#/events',
    '#/client?q=198.51.100.10',
  ],
  outage: ['#/', '#/limiter/api', '#/limiter/login?range=24h'],
  gone: ['#/', '#/processes'],
  many: ['#/', '#/?range=24h', '#/?q=service-00'],
  busy: ['#/limiter/api'],
  hostile: ['#/', '#/limiter/__proto__', '#/events'],
}

/** Takes pictures of scenes into a folder: of each address, in each size, light and dark. */
export async function takePictures(folder: string, names: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const browser = await launchChromium()
  try {
    for (const [name, make] of Object.entries(SCENES)) {
      if (names.length > 0 && !names.includes(name)) continue
      const served = await servePage(figuresOf(make), { operator: 'ines' })
      for (const [i, address] of (ADDRESSES[name] ?? ['#/']).entries())
        for (const size of Object.keys(SIZES) as (keyof typeof SIZES)[])
          await picture(browser, served.url + address, size, join(folder, `${name}-${i}-${size}`))
      await served.close()
    }
  } finally {
    await browser.close()
  }
}

/** Takes pictures of dialogs and of views with something in them, on a wide screen and on a phone. */
export async function takeStates(folder: string, names: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const browser = await launchChromium()
  try {
    for (const [name, { scene, address, operator = 'ines', reach }] of Object.entries(STATES)) {
      if (names.length > 0 && !names.includes(name)) continue
      const make = SCENES[scene] as NonNullable<(typeof SCENES)[string]>
      const served = await servePage(figuresOf(make), { operator })
      for (const size of ['wide', 'phone'] as const)
        await picture(browser, served.url + address, size, join(folder, `${name}-${size}`), reach)
      await served.close()
    }
  } finally {
    await browser.close()
  }
}

async function picture(
  browser: Browser,
  url: string,
  size: keyof typeof SIZES,
  path: string,
  reach?: Steps['reach'],
): Promise<void> {
  const page = await browser.newPage({
    viewport: SIZES[size],
    reducedMotion: 'reduce',
    hasTouch: size === 'phone',
  })
  await page.goto(url)
  await settled(page)
  await reach?.(page)
  await page.waitForLoadState('networkidle', { timeout: 500 }).catch(() => undefined) // the stream never ends
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: `${path}-${colorScheme}.png` })
  }
  await page.close()
}

/** Resolves once figures and fonts have arrived, and what was read for the view. */
export async function settled(page: Page): Promise<void> {
  await page.locator('#connection.is-live').waitFor()
  await page.waitForLoadState('load')
  await page.evaluate('document.fonts.ready')
  await page.evaluate('Promise.all(document.getAnimations().map((animation) => animation.finished))')
}
