import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import type { Frame } from '../../../src/dashboard/figures/shown.js'
import { firstMessage } from '../../support/first-message.js'
import { startRedis } from '../../support/servers/redis.js'
import type { Incident, Stage } from './incidents.js'
import { type Source, trafficTo } from './traffic.js'

const SERVERS = 4
/** Longer than any incident takes. */
const LONGEST_MS = 120_000
/** How long traffic is usual before an incident begins. */
const CALM_MS = 5000
const DUE_MS = 30_000

/** What a run of an incident has shown. */
export interface Outcome {
  readonly incident: string
  /** The time until the first sentence said all it must; `undefined` if it never did. */
  readonly seconds: number | undefined
  /** What it said then, or last. */
  readonly sentence: string
  readonly clicks: number
  readonly isSolved: boolean
  /** What the source counted, and what the page shows: requests that were allowed, and denied. */
  readonly counted?: readonly [allowed: number, denied: number]
  readonly shown?: readonly [allowed: number, denied: number]
}

/** What is aimed at. */
const MOST_SECONDS = 5
const MOST_CLICKS = 2

/** Returns whether a run reaches what is aimed at. */
export function isGood({
  seconds = Number.POSITIVE_INFINITY,
  clicks,
  isSolved,
  counted,
  shown,
}: Outcome): boolean {
  return seconds <= MOST_SECONDS && clicks <= MOST_CLICKS && isSolved && counted?.join() === shown?.join()
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
    const usual = stage.traffic.start(20, (i) => ({
      method: 'GET',
      path: `/products/${i % 100}`,
      from: `192.0.2.${1 + (i % 100)}`,
    }))
    await pause(CALM_MS)
    const source = await incident.begin(stage)
    await firstDenial(source) // before it, nothing is wrong
    const { seconds, sentence } = await secondsUntilSaid(page, incident.says)
    await takePicture?.(page, `${incident.name}, said`)
    const clicks = seconds === undefined ? 0 : await click(page, incident.clicks)
    const isSolved = await solvedWithin(() => incident.isSolved?.(stage) ?? Promise.resolve(true))
    await takePicture?.(page, `${incident.name}, solved`)
    const counts = source && incident.limiter && (await compare(stage, source, usual, incident.limiter))
    return { incident: incident.name, seconds, sentence, clicks, isSolved, ...counts }
  } finally {
    await context.close()
    await end()
  }
}

async function setStage(program: string) {
  const redis = await startRedis({ own: true })
  const children = Array.from({ length: SERVERS }, () => fork(program, [redis.url]))
  const servers = await Promise.all(
    children.map(async (child) => ({ child, port: Number((await firstMessage(child)).port) })),
  )
  const traffic = trafficTo(
    servers.map(({ port }) => port),
    LONGEST_MS,
  )
  async function end(): Promise<void> {
    traffic.close()
    for (const { child } of servers) child.kill('SIGKILL')
    await redis.kill('SIGCONT')
    await redis.stop()
  }
  const stage: Stage = { redis, servers, traffic }
  return { stage, end }
}

async function firstDenial(source: Source | undefined): Promise<void> {
  const endMs = performance.now() + DUE_MS
  while (source?.counts.denied === 0 && performance.now() < endMs) await pause(20)
}

const urlOf = ({ servers }: Stage) => `http://127.0.0.1:${servers[0]?.port}/limits/`

/** Waits until the first sentence of the page says what it must, with a time of day. */
async function secondsUntilSaid(page: Page, says: readonly RegExp[]) {
  const first = page.locator('[data-headline]').first()
  const begunMs = performance.now()
  let sentence = ''
  while (performance.now() - begunMs < DUE_MS) {
    sentence = (await first.textContent({ timeout: 200 }).catch(() => '')) ?? ''
    const isSaid = [/\d\d:\d\d/, ...says].every((text) => text.test(sentence))
    if (isSaid) return { seconds: (performance.now() - begunMs) / 1000, sentence }
    await pause(50)
  }
  return { seconds: undefined, sentence }
}

/** Clicks buttons of the first headline, and then of the dialog. Returns how many there were. */
async function click(page: Page, names: readonly RegExp[]): Promise<number> {
  for (const [i, name] of names.entries()) {
    const place = page.locator(i === 0 ? '[data-headline]' : 'dialog[open]').first()
    const button = place.getByRole('button', { name }).first()
    const isClicked = await button.click({ timeout: 5000 }).then(
      () => true,
      () => false,
    )
    if (!isClicked) return i
  }
  return names.length
}

async function solvedWithin(test: () => Promise<boolean>): Promise<boolean> {
  for (let attempts = 0; attempts < 100; attempts++) {
    if (await test()) return true
    await pause(100)
  }
  return false
}

/** Ends the traffic, and compares what the sources counted with what the page shows of a limiter. */
async function compare(stage: Stage, source: Source, usual: Source, limiter: string) {
  await Promise.all([source.stop(), usual.stop()])
  const probed = { counts: stage.traffic.probed }
  const all = limiter === 'api' ? [source, usual, probed] : [source, probed]
  const sum = (name: 'allowed' | 'denied') => all.reduce((total, { counts }) => total + counts[name], 0)
  const counted = [sum('allowed'), sum('denied')] as const
  let shown: readonly [allowed: number, denied: number] = [0, 0]
  for (let attempts = 0; attempts < 30 && shown.join() !== counted.join(); attempts++) {
    await pause(1000)
    shown = totalsOf(await firstFrame(stage), limiter)
  }
  return { counted, shown }
}

/** Returns the first message of the stream, which has all figures. */
async function firstFrame(stage: Stage): Promise<Frame> {
  const { body } = await fetch(`${urlOf(stage)}stream`)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    text += part.value
    const [, data] = /^data: (\{"atMs".*)\n\n/m.exec(text) ?? []
    if (data === undefined) continue
    await reader?.cancel()
    return JSON.parse(data)
  }
  throw new Error('the stream ended before its first message')
}

function totalsOf({ series }: Frame, limiter: string): readonly [allowed: number, denied: number] {
  const { allowed = [], denied = [] } = series?.[limiter] ?? {}
  const sum = (counts: readonly (number | null)[]) => counts.reduce<number>((total, n) => total + (n ?? 0), 0)
  return [sum(allowed), sum(denied)]
}
