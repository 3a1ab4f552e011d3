import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import type { Frame } from '../../../src/dashboard/figures/shown.js'
import type { Comparison, Incident } from './incident.js'
import { type Stage, setStage, urlOf } from './stage.js'
import type { Sent, Source } from './traffic.js'

/** How long traffic is usual before an incident begins. */
const CALM_MS = 5000
const DUE_MS = 30_000
/** How long nothing must be said if there is nothing to say: longer than a process may be silent. */
const QUIET_MS = 15_000

const usually = (i: number): Sent => ({
  method: 'GET',
  path: `/products/${i % 100}`,
  from: `192.0.2.${1 + (i % 100)}`,
})

/** What a run of an incident has shown. */
export interface Outcome {
  readonly incident: string
  /** The time until the first sentence said all it must; `undefined` if it never did. */
  readonly seconds: number | undefined
  /** What it said then, or last. */
  readonly sentence: string
  readonly clicks: number
  readonly isSolved: boolean
  /** What the generator counted, and what the page shows: requests that were allowed and denied, or other figures. */
  readonly comparison?: Comparison
}

/** What is aimed at. */
const MOST_SECONDS = 5
const MOST_CLICKS = 2

/** Returns whether a run reaches what is aimed at. */
export function isGood({
  seconds = Number.POSITIVE_INFINITY,
  clicks,
  isSolved,
  comparison,
}: Outcome): boolean {
  return seconds <= MOST_SECONDS && clicks <= MOST_CLICKS && isSolved && isEqual(comparison)
}

function isEqual({ counted, shown, tolerance = 0 }: Comparison = { counted: [], shown: [] }): boolean {
  return counted.every((count, i) => Math.abs(count - (shown[i] ?? Number.NaN)) <= tolerance)
}

/** Where incidents are played. */
export interface Theatre {
  readonly browser: Browser
  /** The path of `server-process`, as this process can fork it. */
  readonly program: string
  takePicture?(page: Page, name: string): Promise<void>
}

/** Plays an incident on four processes and a Redis server of their own, and reads the page in a browser. */
export async function playIncident(
  incident: Incident,
  { browser, program, takePicture }: Theatre,
): Promise<Outcome> {
  const { stage, end } = await setStage(program)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    const page = await context.newPage()
    await page.goto(urlOf(stage))
    const usual = stage.traffic.start(20, usually)
    await pause(incident.calmMs ?? CALM_MS)
    const source = await incident.begin(stage)
    await firstDenial(source) // before it, nothing is wrong
    const { seconds, sentence } = await secondsUntilSaid(page, incident)
    await takePicture?.(page, `${incident.name}, said`)
    const sources = source === undefined ? [usual] : [source, usual]
    const other = incident.compare && (await compareQuietly(stage, incident, sentence, usual))
    const clicks = seconds === undefined ? 0 : await click(page, incident.clicks)
    await incident.end?.(stage)
    const isSolved = await solvedWithin(() => incident.isSolved(stage, page))
    if (takePicture !== undefined) {
      await isCalm(page)
      await takePicture(page, `${incident.name}, solved`)
    }
    const { name } = incident
    const comparison = other ?? (incident.limiter && (await compare(stage, sources, incident.limiter)))
    return {
      incident: name,
      seconds,
      sentence,
      clicks,
      isSolved,
      ...(comparison && { comparison }),
    }
  } finally {
    await context.close()
    await end()
  }
}

async function firstDenial(source: Source | undefined): Promise<void> {
  const endMs = performance.now() + DUE_MS
  while (source?.counts.denied === 0 && performance.now() < endMs) await pause(20)
}

/** Waits until the first sentence of the page says what it must, with a time of day; or, for a while, that there is none. */
async function secondsUntilSaid(page: Page, { says, saysNot }: Incident) {
  const first = page.locator('[data-headline]').first()
  const begunMs = performance.now()
  const seconds = () => (performance.now() - begunMs) / 1000
  let sentence = ''
  while (performance.now() - begunMs < (says.length > 0 ? DUE_MS : QUIET_MS)) {
    sentence = (await first.textContent({ timeout: 200 }).catch(() => '')) ?? ''
    if (says.length === 0 && sentence !== '') return { seconds: undefined, sentence }
    const isSaid = says.length > 0 && [/\d\d:\d\d/, ...says].every((text) => text.test(sentence))
    if (isSaid && saysNot?.test(sentence) !== true) return { seconds: seconds(), sentence }
    await pause(50)
  }
  return { seconds: says.length > 0 ? undefined : 0, sentence }
}

/** Clicks buttons or links of the first headline, and then of a dialog or a view. Returns how many there were. */
async function click(page: Page, names: readonly RegExp[]): Promise<number> {
  for (const [i, name] of names.entries()) {
    const place = page.locator(i === 0 ? '[data-headline]' : 'dialog[open], main').last()
    const first = i === 0 ? page.locator('[data-headline]').first() : place
    const button = first.getByRole('button', { name }).or(first.getByRole('link', { name })).first()
    const isClicked = await button.click({ timeout: 5000 }).then(
      () => true,
      () => false,
    )
    if (!isClicked) return i
  }
  return names.length
}

/** Waits until nothing is wrong any longer, for the picture of it; not for ever, where the last click is left to the operator. */
async function isCalm(page: Page): Promise<void> {
  const gone = { state: 'detached', timeout: 10_000 } as const
  await page
    .locator('[data-headline]')
    .first()
    .waitFor(gone)
    .catch(() => undefined)
}

async function solvedWithin(test: () => Promise<boolean>): Promise<boolean> {
  for (let attempts = 0; attempts < 300; attempts++) {
    if (await test()) return true
    await pause(100)
  }
  return false
}

/** Compares other figures while nothing is sent, and sends again. */
async function compareQuietly(stage: Stage, incident: Incident, sentence: string, usual: Source) {
  await usual.stop()
  const comparison = await incident.compare?.(stage, sentence)
  stage.traffic.start(20, usually)
  return comparison
}

/** Ends the traffic, and compares what the sources counted with what the page shows of a limiter. */
async function compare(
  stage: Stage,
  [source, usual]: readonly Source[],
  limiter: string,
): Promise<Comparison> {
  await Promise.all([source?.stop(), usual?.stop()])
  const probed = { counts: stage.traffic.probed }
  const all = [source, limiter === 'api' ? usual : undefined, probed]
  const sum = (name: 'allowed' | 'denied') =>
    all.reduce((total, each) => total + (each?.counts[name] ?? 0), 0)
  const counted = [sum('allowed'), sum('denied')]
  let shown: readonly number[] = []
  for (let attempts = 0; attempts < 30 && shown.join() !== counted.join(); attempts++) {
    await pause(1000)
    shown = totalsOf(await stage.frame(), limiter)
  }
  return { counted, shown }
}

function totalsOf({ series }: Frame, limiter: string): readonly [allowed: number, denied: number] {
  const { allowed = [], denied = [] } = series?.[limiter] ?? {}
  const sum = (counts: readonly (number | null)[]) => counts.reduce<number>((total, n) => total + (n ?? 0), 0)
  return [sum(allowed), sum(denied)]
}
