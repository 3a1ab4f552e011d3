import type { CDPSession, Page } from 'playwright-core'
import type { PageFigures } from '../../../src/dashboard/figures/shown.js'
import { Changes } from '../../../src/dashboard/server/changes.js'
import { launchChromium } from '../../support/servers/chromium.js'
import { settled } from './pictures.js'
import { figuresOf } from './scene.js'
import { SCENES } from './scenes.js'
import { servePage } from './serve.js'

const MEASURED_SECONDS = 20

/**
 * Prints what pages cost while 200 limiters change every second and one of them denies 10,000 clients: the share
 * of a core of the stream in the server, and of the page in the browser.
 */
export async function measureCost(): Promise<void> {
  for (const pages of [1, 20]) console.log(`server, stream of ${pages} pages: ${percent(streamShare(pages))}`)
  const served = await servePage(figuresOf(busy), { operator: 'ines' })
  const browser = await launchChromium()
  try {
    for (const address of ['#/', '#/limiter/api']) {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      console.log(`browser, ${address}: ${await browserShare(page, served.url + address)}`)
      await page.close()
    }
  } finally {
    await browser.close()
    await served.close()
  }
}

const busy = SCENES.busy as NonNullable<(typeof SCENES)[string]>

/** Returns how much of a core it takes to encode the frames of some pages, each second; not what makes the figures. */
function streamShare(pages: number): number {
  let nowMs = Date.now()
  const figures = figuresOf(busy, () => nowMs)
  const view = { limiter: 'api', search: '' }
  let shown = snapshotOf(figures)
  const changes = new Changes({
    ...figures,
    ...Object.fromEntries(MADE.map((name) => [name, () => shown[name]])),
  })
  let spentMs = 0
  for (let second = 0; second < MEASURED_SECONDS; second++) {
    nowMs += 1000
    void figures.refresh()
    shown = snapshotOf(figures)
    const startedMs = performance.now()
    changes.advance(nowMs)
    for (let page = 0; page < pages; page++) Buffer.from(changes.frameSince(second, view))
    spentMs += performance.now() - startedMs
  }
  return spentMs / 1000 / MEASURED_SECONDS
}

const MADE = ['rows', 'series', 'outages', 'processes', 'events', 'detail'] as const

function snapshotOf(figures: PageFigures) {
  return {
    rows: figures.rows(),
    series: figures.series(),
    outages: figures.outages(),
    processes: figures.processes(),
    events: figures.events(),
    detail: figures.detail('api'),
  }
}

/** Returns how much of a core a page takes in the browser, by its own metrics. */
async function browserShare(page: Page, url: string): Promise<string> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.goto(url)
  await settled(page)
  await page.waitForTimeout(2000)
  const before = await metricsOf(session)
  await page.waitForTimeout(1000 * MEASURED_SECONDS)
  const after = await metricsOf(session)
  const share = (name: string) =>
    percent(((after[name] as number) - (before[name] as number)) / MEASURED_SECONDS)
  const parts = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'].map(share)
  return `${share('TaskDuration')} (scripts ${parts[0]}, layout ${parts[1]}, styles ${parts[2]})`
}

const percent = (share: number) => `${(100 * share).toFixed(1)} % of a core`

async function metricsOf(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics')
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
}
