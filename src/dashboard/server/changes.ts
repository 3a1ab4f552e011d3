import type { PageFigures } from '../figures/shown.js'
import { headlinesOf } from '../findings/headlines.js'
import { searchDetail } from './client-search.js'
import { SeriesChanges } from './series-changes.js'

/** What a page looks at. */
export interface View {
  /** The limiter whose details it shows. */
  readonly limiter?: string | undefined
  /** What the clients that it lists must contain. */
  readonly search: string
}

/** The events that a page gets at first. */
const FIRST_EVENTS = 50

/** A text, and the tick at which it became what it is. */
class Latest {
  json = ''
  changedAt = 0
  #value: unknown

  /** Takes a value, which is encoded if it is another object, as `shownOf` returns it. */
  advance<Value>(value: Value, tick: number, shownOf: (value: Value) => unknown = (same) => same): void {
    if (value === this.#value) return
    this.#value = value
    const json = JSON.stringify(shownOf(value))
    if (json === this.json) return
    this.json = json
    this.changedAt = tick
  }
}

/**
 * What has changed in the figures, for pages that have each seen another part of it. Each figure is encoded
 * once per tick, however many pages are open.
 */
export class Changes {
  readonly #figures: PageFigures
  #tick = 0
  #atMs = 0
  readonly #rows = new Map<string, Latest>()
  readonly #series = new Map<string, SeriesChanges>()
  readonly #outages = new Latest()
  readonly #processes = new Latest()
  readonly #headlines = new Latest()
  readonly #problems = new Latest()
  #events = new Map<string, { readonly json: string; readonly tick: number }>()
  /** The events as they were read last. */
  #read: ReturnType<PageFigures['events']> = []
  #details = new Map<string, Latest>()
  /** The details that were asked for since the last tick. */
  #asked = new Map<string, Latest>()

  constructor(figures: PageFigures) {
    this.#figures = figures
  }

  get tick(): number {
    return this.#tick
  }

  /** Takes the figures as they are now. */
  advance(nowMs: number): void {
    this.#tick++
    this.#atMs = nowMs
    const tick = this.#tick
    const [rows, outages, processes] = [
      this.#figures.rows(),
      this.#figures.outages(),
      this.#figures.processes(),
    ]
    for (const row of rows) entryOf(this.#rows, row.name, Latest).advance(row, tick)
    for (const [name, series] of this.#figures.series())
      entryOf(this.#series, name, SeriesChanges).advance(series, tick)
    this.#outages.advance(outages, tick)
    this.#processes.advance(processes, tick)
    this.#problems.advance(this.#figures.problems(), tick)
    const stores = [...new Set(rows.map(({ store }) => store))]
    this.#headlines.advance(headlinesOf([], outages, processes, stores), tick) // rows say the rest
    this.#advanceEvents()
    this.#details = this.#asked // those of closed pages are not kept
    this.#asked = new Map()
  }

  #advanceEvents(): void {
    const events = this.#figures.events()
    if (events === this.#read) return
    this.#read = events
    const entries = events.map((event) => {
      const known = this.#events.get(event.id)
      return [event.id, known ?? { json: JSON.stringify(event), tick: this.#tick }] as const
    })
    this.#events = new Map(entries)
  }

  /** Returns a `Frame` as JSON, with what has changed after a tick; with everything after tick 0. */
  frameSince(sentTick: number, view: View): string {
    const rows = Array.from(this.#rows.values()).filter(({ changedAt }) => changedAt > sentTick)
    const series = Array.from(this.#series, ([name, each]) => [name, each.since(sentTick)] as const)
    const grown = series.filter(([, each]) => each !== undefined)
    const events = Array.from(this.#events.values()).filter(({ tick }) => tick > sentTick)
    const detail = this.#detailOf(view)
    const parts = [
      `"atMs":${this.#atMs}`,
      rows.length > 0 && `"rows":[${rows.map(({ json }) => json)}]`,
      grown.length > 0 && `"series":${JSON.stringify(Object.fromEntries(grown))}`,
      this.#outages.changedAt > sentTick && `"outages":${this.#outages.json}`,
      this.#processes.changedAt > sentTick && `"processes":${this.#processes.json}`,
      this.#headlines.changedAt > sentTick && `"headlines":${this.#headlines.json}`,
      this.#problems.changedAt > sentTick && `"problems":${this.#problems.json}`,
      detail !== undefined && detail.changedAt > sentTick && `"detail":${detail.json}`,
      events.length > 0 &&
        `"events":[${(sentTick === 0 ? events.slice(-FIRST_EVENTS) : events).map(({ json }) => json)}]`,
    ]
    return `{${parts.filter(Boolean).join()}}`
  }

  /** Returns the details that a page shows. They are read once per tick for all pages that show them. */
  #detailOf({ limiter, search }: View): Latest | undefined {
    if (limiter === undefined) return undefined
    const key = `${search}\0${limiter}`
    let latest = this.#asked.get(key)
    if (latest !== undefined) return latest
    const detail = this.#figures.detail(limiter)
    if (detail === undefined) return undefined
    latest = this.#details.get(key) ?? new Latest()
    latest.advance(detail, this.#tick, (all) => searchDetail(all, search))
    this.#asked.set(key, latest)
    return latest
  }
}

function entryOf<T>(map: Map<string, T>, name: string, Entry: new () => T): T {
  let entry = map.get(name)
  if (entry === undefined) {
    entry = new Entry()
    map.set(name, entry)
  }
  return entry
}
